import { type Expression, sql, type SqlBool } from 'kysely'
import type { Db } from './database.ts'

/** The `application_name` of the recorders' connections. */
export const RECORDER_NAME = 'jadwal-recorder'

/** An instant of Postgres' clock in microseconds, as its rows have it. */
export type RecordedBefore = string

/**
 * An instant such that all that will ever be recorded with an earlier time can be read already: now, or
 * since when the oldest transaction of a recorder is under way, whose rows bear the time of its beginning.
 * To be asked for before what is read by it, in a statement of its own.
 *
 * @NOTE Postgres tells a role of its own connections only. If recorders have another, or their address gives
 * them another `application_name`, what they write at this very moment may be missed and come to light later.
 */
export async function readRecordedBefore(db: Db): Promise<RecordedBefore> {
  const { rows } = await sql<{ us: string }>`
    SELECT (extract(epoch FROM least(now(), (
      SELECT min(xact_start) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${RECORDER_NAME}
    ))) * 1000000)::bigint::text AS us`.execute(db)
  const [row] = rows
  if (!row) throw new Error('Postgres does not say what time it is')
  return row.us
}

/** Whether a row, by its column with the time of recording, is from before. */
export function isRecordedBefore(column: string, before: RecordedBefore): Expression<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} < timestamptz 'epoch' + ${before}::bigint * interval '1 microsecond'`
}
