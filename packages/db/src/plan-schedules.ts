import type { Kysely } from 'kysely'
import { compareSchedules } from './compare-schedules.ts'
import type { Database } from './database.ts'
import type { ScheduleChanges, SchedulePlan } from './schedule-change.ts'

/** What `applySchedules` would do now, without doing it. */
export async function planSchedules(
  db: Kysely<Database>,
  changes: ScheduleChanges,
): Promise<SchedulePlan> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const { comparedCalendars: _calendars, ...plan } = await compareSchedules(tx, changes)
      return plan
    })
}
