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

/** Adds up what ended, from counts and buckets of times. */
export class Tally {
  readonly #counts: Record<Count, number> = { succeeded: 0, dead: 0, cancelled: 0, retries: 0 }
  readonly #wait = new Map<number, number>()
  readonly #duration = new Map<number, number>()

  add(measure: string, bucket: number, count: number): void {
    const name = COUNTS.find((each) => each === measure)
    if (name) this.#counts[name] += count
    else {
      const buckets = measure === 'wait' ? this.#wait : this.#duration
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + count)
    }
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

function percentiles(buckets: ReadonlyMap<number, number>): Percentiles {
  return {
    count: [...buckets.values()].reduce((sum, count) => sum + count, 0),
    p50Ms: percentileMs(buckets, 0.5) ?? null,
    p95Ms: percentileMs(buckets, 0.95) ?? null,
    p99Ms: percentileMs(buckets, 0.99) ?? null,
  }
}
