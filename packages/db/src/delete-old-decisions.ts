import { firstUuidAt } from '@jadwal/domain'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import { BATCH, inBatches } from './in-batches.ts'

/** Deletes what was decided about dead runs whose ids are older than `borderMs` and that are in no table any more. */
export async function deleteOldSettled(db: Kysely<Database>, borderMs: number): Promise<void> {
  const settled = sql.table('settled_letters')
  await inBatches(
    db,
    sql`
      WITH gone AS (
        DELETE FROM ${settled} WHERE ctid = ANY (ARRAY(
          SELECT s.ctid FROM ${settled} AS s WHERE s.run_id < ${firstUuidAt(borderMs)}
            AND NOT EXISTS (SELECT FROM ${sql.table('runs_all')} AS r WHERE r.id = s.run_id)
          LIMIT ${BATCH}))
        RETURNING 1
      ) SELECT count(*) AS deleted FROM gone`,
  )
}

/** Deletes redrives that ended before `borderMs`. */
export async function deleteOldRedrives(db: Kysely<Database>, borderMs: number): Promise<void> {
  await db.deleteFrom('redrives').where('finished_at', '<', new Date(borderMs)).execute()
}
