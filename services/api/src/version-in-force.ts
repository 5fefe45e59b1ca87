import { type Db, listVersionRules } from '@jadwal/db'
import { DAY, type ScheduleId, type ScheduleVersion } from '@jadwal/domain'

/** The version of a schedule that rules now. It may have begun, by the clock of Postgres, a moment after now. */
export async function findVersionInForce(
  db: Db,
  id: ScheduleId,
  nowMs: number,
): Promise<ScheduleVersion | undefined> {
  let latest: ScheduleVersion | undefined
  const ahead = { afterMs: nowMs, untilMs: nowMs + DAY }
  for await (const version of listVersionRules(db, id, ahead)) latest = version
  return latest
}
