import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'

/**
 * A table of the queues that have runs of a job in a table of runs: one step in the index for each of them,
 * however many runs they have. Served by runs_job_queue_state_idx.
 */
export function queuesOfJob(from: RawBuilder<unknown>, job: string): RawBuilder<unknown> {
  // Pairs are compared, since no other index has these in order.
  return sql`(
    WITH RECURSIVE each (job, queue) AS (
      SELECT ${job}::text, ''
      UNION ALL
      SELECT further.* FROM each CROSS JOIN LATERAL (
        SELECT r.job, r.queue FROM ${from} AS r WHERE (r.job, r.queue) > (each.job, each.queue)
        ORDER BY r.job, r.queue LIMIT 1) AS further
      WHERE each.job = ${job}
    ) SELECT queue FROM each WHERE job = ${job} AND queue <> '')`
}

/** The names of these queues. */
export async function listQueuesOfJob(db: Db, table: string, job: string): Promise<string[]> {
  const { rows } = await sql<{ queue: string }>`
    SELECT queue FROM ${queuesOfJob(sql.table(table), job)} AS of_job`.execute(db)
  return rows.map(({ queue }) => queue)
}
