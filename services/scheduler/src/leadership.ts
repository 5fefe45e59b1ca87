import type { Clock } from '@jadwal/domain'
import type { Lease, RedisClock, Reign } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Bell } from './bell.ts'

/** The longest a standby waits before it tries for the lease again. */
const TRY_MS = 500
/** How long one that gave the lease up lets others take it. */
const STAND_BACK_MS = 2 * TRY_MS
/** A wall clock that is off by more lets others lead first. */
const MAX_SKEW_MS = 500

export interface LeadershipDeps {
  lease: Lease
  redisClock: RedisClock
  /** Times are measured by its monotonic side: that of Redis may be set back. */
  clock: Clock
  /** Rings when the lease was released. */
  leaseFree: Bell
  leaseMs: number
  log: Logger
}

/**
 * Who tries to lead. A replica whose clock is off from that of Redis stands back for as long as another one could take
 * the lease; when nobody does, a leader whose log shows the wrong time is better than none. So does one
 * that has just given the lease up for another to lead.
 */
export class Candidate {
  readonly #deps: LeadershipDeps
  #freeSinceMs: number | undefined
  #standsBackUntilMs = -Infinity

  constructor(deps: LeadershipDeps) {
    this.#deps = deps
  }

  /**
   * Lets another lead first, if there is one: standbys are told at once when the lease is free. Not for
   * longer, since they may all have been asked to stand back.
   */
  standBack(): void {
    this.#standsBackUntilMs = this.#deps.clock.monotonicMs() + STAND_BACK_MS
  }

  /** Tries to take the lease. Returns the reign, or how long to wait. */
  async stand(): Promise<Reign | { waitMs: number }> {
    const { lease, redisClock, clock, log } = this.#deps
    const nowMs = clock.monotonicMs()
    if (this.#standsBack(nowMs)) {
      const freeInMs = await lease.freeInMs()
      if (freeInMs > 0) {
        this.#freeSinceMs = undefined
        this.#standsBackUntilMs = -Infinity
      } else this.#freeSinceMs ??= nowMs
      return { waitMs: TRY_MS }
    }
    const result = await lease.take(new Date(redisClock.nowMs()).toISOString())
    if (!result.taken) return { waitMs: Math.min(result.freeInMs, TRY_MS) }
    this.#freeSinceMs = undefined
    if (this.#skewed())
      log.error(
        { skewMs: redisClock.skewMs() },
        'leading although the clock is wrong: no other did',
      )
    return result.reign
  }

  #skewed(): boolean {
    return Math.abs(this.#deps.redisClock.skewMs()) > MAX_SKEW_MS
  }

  #standsBack(nowMs: number): boolean {
    if (nowMs < this.#standsBackUntilMs) return true
    if (!this.#skewed()) return false
    const freeForMs = this.#freeSinceMs === undefined ? 0 : nowMs - this.#freeSinceMs
    return freeForMs < this.#deps.leaseMs + 2 * TRY_MS
  }
}
