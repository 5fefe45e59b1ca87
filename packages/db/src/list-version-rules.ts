import { readCalendars, type ScheduleId, ScheduleSpec, type ScheduleVersion } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import { calendarsOf } from './calendar-revisions.ts'
import type { Db } from './database.ts'

/** Versions read at a time: a schedule that is edited by a program may have very many. */
const BATCH = 200

/**
 * The versions of a schedule whose time meets (afterMs, untilMs], oldest first, without what has no
 * say in when they tick: their payload is empty, and only those that are in force still have their
 * calendars. One whose stored rule cannot be read has no ticks, for the leader neither. Served by
 * schedule_versions_pkey.
 */
export async function* listVersionRules(
  db: Db,
  scheduleId: ScheduleId,
  { afterMs, untilMs }: { afterMs: number; untilMs: number },
): AsyncGenerator<ScheduleVersion, void, undefined> {
  let last = 0
  for (;;) {
    const rows = await selectBatch(db, scheduleId, { afterMs, untilMs, last })
    for (const row of rows) {
      last = row.version
      const spec = ScheduleSpec.safeParse(row.spec)
      if (!spec.success) continue
      yield {
        version: row.version,
        spec: spec.data,
        fromMs: row.from_at.getTime(),
        ...(row.until_at ? { untilMs: row.until_at.getTime() } : {}),
        calendars: readCalendars(row.calendars),
      }
    }
    if (rows.length < BATCH) return
  }
}

function selectBatch(
  db: Db,
  scheduleId: ScheduleId,
  { afterMs, untilMs, last }: { afterMs: number; untilMs: number; last: number },
) {
  return db
    .selectFrom('schedule_versions')
    .select(['version', 'from_at', 'until_at', SPEC.as('spec'), CALENDARS.as('calendars')])
    .where('schedule_id', '=', scheduleId)
    .where('version', '>', last)
    .where('from_at', '<', new Date(untilMs))
    .where((eb) => eb.or([eb('until_at', 'is', null), eb('until_at', '>', new Date(afterMs))]))
    .orderBy('version')
    .limit(BATCH)
    .execute()
}

const SPEC = sql<Record<string, unknown>>`spec - '{payload,description,labels}'::text[]`
const CALENDARS: RawBuilder<Record<string, unknown>> = sql`
  CASE WHEN until_at IS NULL THEN ${calendarsOf(sql.ref('calendars'))} ELSE '{}' END`
