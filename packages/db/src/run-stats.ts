import { DAY, HOUR, MINUTE } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { type Ended, type RunTally, Tally, type Times } from './run-tally.ts'

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
  const totals = new Tally()
  const points = new Map<number, Tally>()
  for (const { minuteMs, ...ended } of await readEnded(db, query, [new Date(from), new Date(to)])) {
    const at = floorTo(step, minuteMs)
    const point = points.get(at) ?? new Tally()
    points.set(at, point)
    for (const tally of [totals, point]) tally.add(ended)
  }
  const series = [...points]
    .toSorted(([a], [b]) => a - b)
    .map(([at, tally]) => Object.assign({ at: new Date(at) }, tally.sums()))
  return { from: new Date(from), to: new Date(to), step, totals: totals.sums(), series }
}

export function floorTo(step: StatsStep, ms: number): number {
  return Math.floor(ms / STEP_MS[step]) * STEP_MS[step]
}

interface EndedRow extends Record<'succeeded' | 'dead' | 'cancelled' | 'retries', number> {
  /** Ms since the epoch. */
  at: number
  /** Lists with commas, as all that follow: a driver takes much longer to make arrays of arrays' text. */
  waits: string | null
  wait_counts: string | null
  durations: string | null
  duration_counts: string | null
}

/** What ended, as it was folded, mostly a row a step; and of what was not folded yet, a row a minute. */
async function readEnded(
  db: Db,
  query: StatsQuery,
  [from, to]: [Date, Date],
): Promise<(Ended & { minuteMs: number })[]> {
  const { scheduleId, step = 'minute' } = query
  const ofSchedule = scheduleId === undefined ? sql`true` : sql`schedule_id = ${scheduleId}`
  const { rows } = await sql<EndedRow>`
    SELECT extract(epoch FROM at)::float8 * 1000 AS at, succeeded, dead, cancelled, retries,
      ${list('wait_buckets')} AS waits, ${list('wait_counts')} AS wait_counts,
      ${list('duration_buckets')} AS durations, ${list('duration_counts')} AS duration_counts
    FROM ${sql.table('run_stats')}
    WHERE step = ${step} AND at >= ${from} AND at < ${to} AND ${isFolded(query)}
    UNION ALL
    SELECT extract(epoch FROM minute)::float8 * 1000, sum(succeeded)::int, sum(dead)::int,
      sum(cancelled)::int, sum(retries)::int, ${joined('waits')}, NULL, ${joined('durations')}, NULL
    FROM ${sql.table('run_stats_deltas')}
    WHERE minute >= ${from} AND minute < ${to} AND ${isOf(query)} AND ${ofSchedule}
    GROUP BY minute`.execute(db)
  return rows.map((row) => ({
    minuteMs: row.at,
    succeeded: row.succeeded,
    dead: row.dead,
    cancelled: row.cancelled,
    retries: row.retries,
    wait: times(row.waits, row.wait_counts),
    duration: times(row.durations, row.duration_counts),
  }))
}

function list(column: string): RawBuilder<unknown> {
  return sql`array_to_string(${sql.ref(column)}, ',')`
}

function joined(column: string): RawBuilder<unknown> {
  return sql`string_agg(${list(column)}, ',') FILTER (WHERE ${sql.ref(column)} <> '{}')`
}

function times(buckets: string | null, counts: string | null): Times {
  return { buckets: numbers(buckets), ...(counts === null ? {} : { counts: numbers(counts) }) }
}

function numbers(text: string | null): number[] {
  return JSON.parse(`[${text ?? ''}]`) as number[]
}

/** All runs, those of a queue, of a job and of a schedule have rows of their own. */
function isFolded(query: StatsQuery): RawBuilder<unknown> {
  const { job, queue = '', scheduleId } = query
  if (scheduleId !== undefined) return sql`schedule_id = ${scheduleId} AND ${isOf(query)}`
  if (job !== undefined) return sql`schedule_id IS NULL AND ${isOf(query)}`
  return sql`schedule_id IS NULL AND queue = ${queue} AND job = ''`
}

function isOf({ job, queue }: StatsQuery): RawBuilder<unknown> {
  const ofJob = job === undefined ? sql`true` : sql`job = ${job}`
  return queue === undefined ? ofJob : sql`${ofJob} AND queue = ${queue}`
}
