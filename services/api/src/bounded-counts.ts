import type { Clock } from '@jadwal/domain'
import type { ClientRateLimitInfo, Store } from 'express-rate-limit'

/** Addresses that are counted at once. When there are more, those that were counted first are forgotten. */
const MOST_KEYS = 10_000

interface Count {
  totalHits: number
  resetTime: Date
}

/** What express-rate-limit counts, in memory that has a bound: its own store has none. */
export class BoundedCounts implements Store {
  readonly localKeys = true
  readonly #windowMs: number
  readonly #clock: Pick<Clock, 'now'>
  readonly #counts = new Map<string, Count>()

  constructor(windowMs: number, clock: Pick<Clock, 'now'>) {
    this.#windowMs = windowMs
    this.#clock = clock
  }

  get size(): number {
    return this.#counts.size
  }

  /** What was counted of a key within its window, which this does not make longer. */
  hits(key: string): number {
    const known = this.#counts.get(key)
    return known && known.resetTime > this.#clock.now() ? known.totalHits : 0
  }

  increment(key: string): ClientRateLimitInfo {
    const now = this.#clock.now()
    const known = this.#counts.get(key)
    if (known && known.resetTime > now) {
      known.totalHits += 1
      return { ...known }
    }
    this.#counts.delete(key)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size >= MOST_KEYS && oldest !== undefined) this.#counts.delete(oldest)
    const fresh = { totalHits: 1, resetTime: new Date(now.getTime() + this.#windowMs) }
    this.#counts.set(key, fresh)
    return { ...fresh }
  }

  decrement(key: string): void {
    const known = this.#counts.get(key)
    if (known) known.totalHits -= 1
  }

  resetKey(key: string): void {
    this.#counts.delete(key)
  }
}
