import { percentileMs } from '@jadwal/domain'

/** Times in ms, each within 5 % of what it is; null when there are none. */
export interface Percentiles {
  /** How many runs say so. */
  count: number
  p50Ms: number | null
  p95Ms: number | null
  p99Ms: number | null
}

/** Runs by how they ended. */
export interface RunTally {
  succeeded: number
  dead: number
  cancelled: number
  /** Attempts of these runs beyond the first of each. */
  retries: number
  /** Dead of those that succeeded or died; null when there are none. */
  failureRate: number | null
  /** From when runs were due to the start of their first attempts. */
  wait: Percentiles
  /** Of the attempts that ended the runs. */
  duration: Percentiles
}

const COUNTS = ['succeeded', 'dead', 'cancelled', 'retries'] as const
type Count = (typeof COUNTS)[number]

/** Times by the buckets that they lie in. */
export interface Times {
  buckets: readonly number[]
  /** How many are in each of these; one in each when left out. */
  counts?: readonly number[]
}

/** Runs that ended, not yet added up. */
export type Ended = Record<Count, number> & Record<'wait' | 'duration', Times>

/** Adds up what ended. */
export class Tally {
  readonly #counts: Record<Count, number> = { succeeded: 0, dead: 0, cancelled: 0, retries: 0 }
  readonly #wait: number[] = []
  readonly #duration: number[] = []

  add(ended: Ended): void {
    for (const name of COUNTS) this.#counts[name] += ended[name]
    addTimes(this.#wait, ended.wait)
    addTimes(this.#duration, ended.duration)
  }

  sums(): RunTally {
    const { succeeded, dead } = this.#counts
    const judged = succeeded + dead
    return {
      ...this.#counts,
      failureRate: judged === 0 ? null : dead / judged,
      wait: percentiles(this.#wait),
      duration: percentiles(this.#duration),
    }
  }
}

function addTimes(sums: number[], { buckets, counts }: Times): void {
  for (const [at, bucket] of buckets.entries())
    sums[bucket] = (sums[bucket] ?? 0) + (counts?.[at] ?? 1)
}

function percentiles(buckets: readonly number[]): Percentiles {
  return {
    count: buckets.reduce((sum, count) => sum + count, 0),
    p50Ms: percentileMs(buckets, 0.5) ?? null,
    p95Ms: percentileMs(buckets, 0.95) ?? null,
    p99Ms: percentileMs(buckets, 0.99) ?? null,
  }
}
