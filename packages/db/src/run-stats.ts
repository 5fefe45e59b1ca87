import { DAY, HOUR, MINUTE } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { type RunTally, Tally } from './run-tally.ts'

/** How long a stretch of time one point of a series is of. */
export const STATS_STEPS = ['minute', 'hour', 'day'] as const
export type StatsStep = (typeof STATS_STEPS)[number]
export const STEP_MS: Record<StatsStep, number> = { minute: MINUTE, hour: HOUR, day: DAY }

export interface StatsQuery {
  /** Moved back to the beginning of its step. */
  from: Date
  /** Exclusive; moved on to the end of its step. */
  to: Date
  job?: string
  queue?: string
  scheduleId?: string
  /** Default: minutes. They are kept for two days, hours for 31 (`STATS_KEPT_MS`). */
  step?: StatsStep
}

export interface RunStats {
  /** What was counted: whole steps. */
  from: Date
  to: Date
  step: StatsStep
  totals: RunTally
  /** Steps in which a run ended, oldest first. */
  series: ({ at: Date } & RunTally)[]
}

/** How long rows of a step are kept; those of days for as long as `JADWAL_STATS_DAYS` says. */
export const STATS_KEPT_MS = { minute: 2 * DAY, hour: 31 * DAY } as const

/**
 * Runs that ended in a time, by how they ended, each counted once: when its end was first recorded, in
 * the minute in which it ended. Ticks without a run do not count. What recorders have counted and the
 * leader has not folded yet is in it. Served by run_stats_one_row_idx.
 *
 * The wait of a run is from when it was due (its enqueueing, or the end of its delay or jitter) to the
 * start of its first attempt, where that is known; its duration is that of the attempt that ended it.
 */
export async function runStats(db: Db, query: StatsQuery): Promise<RunStats> {
  const { step = 'minute' } = query
  const from = floorTo(step, query.from.getTime())
  const to = floorTo(step, query.to.getTime() + STEP_MS[step] - 1)
  const { rows } = await countRows(db, { ...query, step, from: new Date(from), to: new Date(to) })
  const totals = new Tally()
  const points = new Map<number, Tally>()
  for (const { at, measure, bucket, count } of rows) {
    const point = points.get(at) ?? new Tally()
    points.set(at, point)
    for (const tally of [totals, point]) tally.add(measure, bucket, count)
  }
  const series = [...points]
    .toSorted(([a], [b]) => a - b)
    .map(([at, tally]) => Object.assign({ at: new Date(at) }, tally.sums()))
  return { from: new Date(from), to: new Date(to), step, totals: totals.sums(), series }
}

export function floorTo(step: StatsStep, ms: number): number {
  return Math.floor(ms / STEP_MS[step]) * STEP_MS[step]
}

interface CountRow {
  /** Ms since the epoch. */
  at: number
  measure: string
  bucket: number
  count: number
}

function countRows(db: Db, query: StatsQuery & { step: StatsStep }) {
  const { from, to, step } = query
  return sql<CountRow>`
    WITH folded AS (
      SELECT * FROM ${sql.table('run_stats')}
      WHERE ${scheduleIs(query.scheduleId)} AND step = ${step} AND at >= ${from} AND at < ${to}
        AND ${isOfAll(query) ? sql`queue = '' AND job = ''` : isOf(query)}
    ), fresh AS (
      SELECT date_trunc(${step}, minute, 'UTC') AS at, * FROM ${sql.table('run_stats_deltas')}
      WHERE minute >= ${from} AND minute < ${to} AND ${isOf(query)}
        AND ${query.scheduleId === undefined ? sql`true` : sql`schedule_id = ${query.scheduleId}`}
    )
    SELECT extract(epoch FROM at)::float8 * 1000 AS at, measure, bucket, sum(n)::float8 AS count
    FROM (
      SELECT at, measure, 0 AS bucket, n FROM (
        SELECT at, succeeded, dead, cancelled, retries FROM folded
        UNION ALL SELECT at, succeeded, dead, cancelled, retries FROM fresh
      ) AS ends, LATERAL (VALUES ('succeeded', succeeded), ('dead', dead),
        ('cancelled', cancelled), ('retries', retries)) AS told (measure, n)
      UNION ALL SELECT at, 'wait', b, n
        FROM folded, LATERAL unnest(wait_buckets, wait_counts) AS told (b, n)
      UNION ALL SELECT at, 'duration', b, n
        FROM folded, LATERAL unnest(duration_buckets, duration_counts) AS told (b, n)
      UNION ALL SELECT at, 'wait', b, 1 FROM fresh, LATERAL unnest(waits) AS told (b)
      UNION ALL SELECT at, 'duration', b, 1 FROM fresh, LATERAL unnest(durations) AS told (b)
    ) AS each WHERE n > 0
    GROUP BY 1, 2, 3`.execute(db)
}

function scheduleIs(id: string | undefined): RawBuilder<unknown> {
  return id === undefined ? sql`schedule_id IS NULL` : sql`schedule_id = ${id}`
}

/** Whether nothing is left out: all runs together have rows of their own. */
function isOfAll({ job, queue, scheduleId }: StatsQuery): boolean {
  return job === undefined && queue === undefined && scheduleId === undefined
}

function isOf({ job, queue }: StatsQuery): RawBuilder<unknown> {
  const ofJob = job === undefined ? sql`true` : sql`job = ${job}`
  return queue === undefined ? ofJob : sql`${ofJob} AND queue = ${queue}`
}
