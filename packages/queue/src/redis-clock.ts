import type { Clock } from '@jadwal/domain'
import type { Redis } from 'ioredis'

/**
 * Redis' time, carried on by this process' monotonic clock.
 *
 * Each answer to TIME bounds the difference between the two clocks from both sides, because Redis
 * read its clock between our sending and our receiving. The lower bound is used, the tightest so far:
 * `nowMs` is never ahead of Redis, so that no tick is fired early. When an answer contradicts the
 * bound (Redis' clock was set, or another Redis took over), it starts anew.
 */
export class RedisClock {
  readonly #redis: Redis
  readonly #clock: Clock
  #offsetMs: number | undefined
  #skewMs = 0

  constructor(redis: Redis, clock: Clock) {
    this.#redis = redis
    this.#clock = clock
  }

  /** Asks Redis. Call it each second. */
  async measure(): Promise<void> {
    const sentMs = this.#clock.monotonicMs()
    const [seconds, micros] = await this.#redis.time()
    const receivedMs = this.#clock.monotonicMs()
    const redisMs = Number(seconds) * 1_000 + Number(micros) / 1_000
    const lowest = redisMs - receivedMs
    const highest = redisMs - sentMs
    if (this.#offsetMs === undefined || this.#offsetMs > highest) this.#offsetMs = lowest
    else this.#offsetMs = Math.max(this.#offsetMs, lowest)
    this.#skewMs = this.#clock.now().getTime() - (redisMs + (receivedMs - sentMs) / 2)
  }

  /** Redis' time in ms since the epoch, rounded down. Throws before the first measurement. */
  nowMs(): number {
    if (this.#offsetMs === undefined) throw new Error('the clock of Redis was not measured yet')
    return Math.floor(this.#clock.monotonicMs() + this.#offsetMs)
  }

  /** How far this machine's wall clock is ahead of Redis', in ms, at the last measurement. */
  skewMs(): number {
    return this.#skewMs
  }
}
