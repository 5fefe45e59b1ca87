import type { AlertMatchers } from '@jadwal/domain'
import { sql } from 'kysely'
import { ofNames } from './alert-matchers.ts'
import type { Db } from './database.ts'

/** How the runs of a job ended. */
export interface JobFailures {
  job: string
  queue: string
  /** Succeeded and dead. */
  runs: number
  dead: number
}

export interface FailureQuery {
  from: Date
  to: Date
  /** Fewer runs say nothing. */
  minRuns: number
  /** From 0 to 1. */
  rate: number
  matchers: AlertMatchers
  exceptQueue: string
}

/**
 * Jobs of whose runs, of those that ended in whole minutes of a time, at least a share died: the same
 * numbers as `runStats` has, for all jobs at once. Served by run_stats_one_row_idx.
 */
export async function findFailureRates(db: Db, query: FailureQuery): Promise<JobFailures[]> {
  const { from, to, minRuns, rate, matchers, exceptQueue } = query
  const meant = sql`job <> '' AND queue <> ${exceptQueue} AND ${ofNames('job', matchers.job)}
    AND ${ofNames('queue', matchers.queue)}`
  const { rows } = await sql<JobFailures>`
    SELECT job, queue, sum(succeeded + dead)::int AS runs, sum(dead)::int AS dead FROM (
      SELECT job, queue, succeeded, dead FROM ${sql.table('run_stats')}
      WHERE schedule_id IS NULL AND step = 'minute' AND at >= ${from} AND at < ${to} AND ${meant}
      UNION ALL
      SELECT job, queue, succeeded, dead FROM ${sql.table('run_stats_deltas')}
      WHERE minute >= ${from} AND minute < ${to} AND ${meant}
    ) AS ended
    GROUP BY job, queue
    HAVING sum(succeeded + dead) >= ${minRuns}
      AND sum(dead) >= ${rate}::float8 * sum(succeeded + dead)
    ORDER BY dead DESC, job LIMIT 200`.execute(db)
  return rows
}
