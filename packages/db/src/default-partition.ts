import { firstUuidAt } from '@jadwal/domain'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from './database.ts'

/** How many rows one statement deletes. */
const BATCH = 10_000

/**
 * Deletes the runs of the default partition that finished before `borderMs`, with their attempts. The
 * time in the id says when a run was enqueued, maybe years before its end, so it does not count here.
 * Attempts whose run is in no table any more go by that time.
 */
export async function deleteOldFromDefault(db: Kysely<Database>, borderMs: number): Promise<void> {
  const runs = sql.table('runs_default')
  const attempts = sql.table('attempts_default')
  await inBatches(
    db,
    sql`
      WITH gone AS (
        DELETE FROM ${runs} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${runs} WHERE finished_at < ${new Date(borderMs)} LIMIT ${BATCH}))
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

/** Deletes what was decided about dead runs whose ids are older than `borderMs` and that are in no table any more. */
export async function deleteOldSettled(db: Kysely<Database>, borderMs: number): Promise<void> {
  const settled = sql.table('settled_letters')
  await inBatches(
    db,
    sql`
      WITH gone AS (
        DELETE FROM ${settled} WHERE ctid = ANY (ARRAY(
          SELECT s.ctid FROM ${settled} AS s WHERE s.run_id < ${firstUuidAt(borderMs)}
            AND NOT EXISTS (SELECT FROM ${sql.table('runs')} AS r WHERE r.id = s.run_id)
          LIMIT ${BATCH}))
        RETURNING 1
      ) SELECT count(*) AS deleted FROM gone`,
  )
}

/** Deletes redrives that ended before `borderMs`. */
export async function deleteOldRedrives(db: Kysely<Database>, borderMs: number): Promise<void> {
  await db.deleteFrom('redrives').where('finished_at', '<', new Date(borderMs)).execute()
}

/** Repeats a statement until it deletes less than a batch. */
async function inBatches(db: Kysely<Database>, statement: RawBuilder<unknown>): Promise<void> {
  const typed = statement as RawBuilder<{ deleted: number }>
  let deleted: number
  do {
    const { rows } = await typed.execute(db)
    deleted = rows[0]?.deleted ?? 0
  } while (deleted === BATCH)
}
