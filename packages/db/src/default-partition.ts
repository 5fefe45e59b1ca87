import { firstUuidAt } from '@jadwal/domain'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from './database.ts'
import { BATCH, inBatches } from './in-batches.ts'

/**
 * Deletes the runs of the default partition that finished before `borderMs`, with their attempts, save
 * those that are kept, as `isKept` says of a row. The
 * time in the id says when a run was enqueued, maybe years before its end, so it does not count here.
 * Attempts whose run is in no table any more go by that time.
 */
export async function deleteOldFromDefault(
  db: Kysely<Database>,
  borderMs: number,
  isKept: RawBuilder<boolean>,
): Promise<void> {
  const runs = sql.table('runs_default')
  const attempts = sql.table('attempts_default')
  await inBatches(
    db,
    sql`
      WITH gone AS (
        DELETE FROM ${runs} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${runs}
          WHERE finished_at < ${new Date(borderMs)} AND NOT ${isKept} LIMIT ${BATCH}))
        RETURNING id
      ), gone_attempt AS (
        DELETE FROM ${attempts} WHERE run_id IN (SELECT id FROM gone)
      ) SELECT count(*) AS deleted FROM gone`,
  )
  await inBatches(
    db,
    sql`
      WITH gone AS (
        DELETE FROM ${attempts} WHERE ctid = ANY (ARRAY(
          SELECT a.ctid FROM ${attempts} AS a WHERE a.run_id < ${firstUuidAt(borderMs)}
            AND NOT EXISTS (SELECT FROM ${runs} AS r WHERE r.id = a.run_id) LIMIT ${BATCH}))
        RETURNING 1
      ) SELECT count(*) AS deleted FROM gone`,
  )
}
