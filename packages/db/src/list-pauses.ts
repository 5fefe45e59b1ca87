import { type Kysely, sql } from 'kysely'
import type { Database, SchedulePauseRow } from './database.ts'

/**
 * The pauses that are on now, of everything and of the schedules with these ids, or of all. Served by
 * schedule_pauses_schedule_idx.
 */
export async function listCurrentPauses(
  db: Kysely<Database>,
  schedules: readonly string[] | 'all',
): Promise<SchedulePauseRow[]> {
  const ids = schedules === 'all' ? null : schedules
  const { rows } = await sql<SchedulePauseRow>`
    SELECT * FROM ${sql.table('schedule_pauses')}
    WHERE (schedule_id IS NULL OR ${ids}::uuid[] IS NULL OR schedule_id = ANY (${ids}::uuid[]))
      AND (until_at IS NULL OR until_at > clock_timestamp())
    ORDER BY from_at`.execute(db)
  return rows
}
