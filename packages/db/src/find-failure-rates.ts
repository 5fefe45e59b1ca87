import { type AlertMatchers, HOUR } from '@jadwal/domain'
import { sql } from 'kysely'
import { ofNames } from './alert-matchers.ts'
import type { Db } from './database.ts'
import type { StatsStep } from './run-stats.ts'

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
 * numbers as `runStats` has, for all jobs at once. Whole hours are read as such: a day of a thousand jobs has
 * 1.4 million rows by minute. Served by run_stats_one_row_idx.
 */
export async function findFailureRates(db: Db, query: FailureQuery): Promise<JobFailures[]> {
  const { from, to, minRuns, rate, matchers, exceptQueue } = query
  const [firstHour, lastHour] = wholeHours(from, to)
  const meant = sql`job <> '' AND queue <> ${exceptQueue} AND ${ofNames('job', matchers.job)}
    AND ${ofNames('queue', matchers.queue)}`
  const folded = (step: StatsStep, [first, end]: readonly [Date, Date]) => sql`
    SELECT job, queue, succeeded, dead FROM ${sql.table('run_stats')}
    WHERE schedule_id IS NULL AND step = ${step} AND at >= ${first} AND at < ${end} AND ${meant}`
  const { rows } = await sql<JobFailures>`
    SELECT job, queue, sum(succeeded + dead)::int AS runs, sum(dead)::int AS dead FROM (
      ${folded('minute', [from, firstHour])}
      UNION ALL ${folded('hour', [firstHour, lastHour])}
      UNION ALL ${folded('minute', [lastHour, to])}
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

/** Where the whole hours within a time begin and end; both its end when there are none. */
function wholeHours(from: Date, to: Date): [Date, Date] {
  const first = Math.ceil(from.getTime() / HOUR) * HOUR
  const end = Math.floor(to.getTime() / HOUR) * HOUR
  return first < end ? [new Date(first), new Date(end)] : [to, to]
}
