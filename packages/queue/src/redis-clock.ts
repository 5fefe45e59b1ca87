import type { Clock } from '@jadwal/domain'
import type { Redis } from 'ioredis'

/**
 * Redis' time, carried on by this process' monotonic clock.
 *
 * Each answer to TIME bounds the difference between the two clocks from both sides, because Redis
 * read its clock between our sending and our receiving. The lower bound is used, the tightest so far:
 * `nowMs` is never ahead of Redis, so that no tick is fired early. When an answer contradicts the
 * bound (Redis' clock was set, or another Redis took over), it starts anew. A jump of seconds must be
 * confirmed by further answers first: a clock that is set wrong and put right at once would else fire
 * ticks of the future.
 */

const JUMP_MS = 2_000
const CONFIRMATIONS = 3

export class RedisClock {
  readonly #redis: Redis
  readonly #clock: Clock
  #offsetMs: number | undefined
  #skewMs = 0
  /** Answers in a row that are seconds away from what this clock believes. */
  #jumps = 0

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
    this.#take(lowest, redisMs - sentMs)
    this.#skewMs = this.#clock.now().getTime() - (redisMs + (receivedMs - sentMs) / 2)
  }

  #take(lowest: number, highest: number): void {
    const offset = this.#offsetMs
    const jumped = offset !== undefined && (lowest > offset + JUMP_MS || highest < offset - JUMP_MS)
    this.#jumps = jumped ? this.#jumps + 1 : 0
    if (jumped && this.#jumps <= CONFIRMATIONS) return
    this.#jumps = 0
    if (offset === undefined || offset > highest) this.#offsetMs = lowest
    else this.#offsetMs = Math.max(offset, lowest)
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
