import type { Redis } from 'ioredis'
import { deferred } from './deferred.ts'
import { isRedisTrouble } from './redis-trouble.ts'

/** The wait is counted in slices: one that passes while this process could not listen counts once. */
const SLICE_MS = 250
/** Slices that pass without a word from Redis before a call gives up: 1 to 1.25 s. */
const SLICES = 5
/** Slices of waiting without a word after which the connection is taken to be dead: 5 s. */
const DEAD_AFTER = 20

interface Waiter {
  /** When it began, in slices. */
  since: number
  giveUp(): void
}

/**
 * Waits for what one connection is asked, as long as Redis says anything at all: when nothing came for
 * about a second, whoever waits that long is told. A machine that is merely busy keeps its calls:
 * time in which the event loop stood still counts as one slice, and any answer starts the second anew.
 *
 * Whoever was told must not go on with the work when the answer comes after all.
 */
export class Patience {
  readonly #redis: Redis
  readonly #waiting = new Set<Waiter>()
  #now = 0
  #heardAt = 0
  #silence = 0
  #isTicking = false

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Resolves or rejects as `work` does; or rejects when Redis was silent for a second. */
  async for<T>(work: Promise<T> | T): Promise<T> {
    if (!(work instanceof Promise)) return work
    return await new Promise<T>((resolve, reject) => {
      const giveUp = (): void => reject(new Error('no answer within a second'))
      const waiter: Waiter = { since: this.#now, giveUp }
      this.#waiting.add(waiter)
      if (!this.#isTicking) void this.#tick()
      const answered = (value: T): void => {
        this.#settle(waiter)
        resolve(value)
      }
      work.then(answered, (error: unknown) => {
        this.#settle(waiter, error)
        reject(error)
      })
    })
  }

  /** Resolves when the connection takes commands; rejects with its last error after a second. */
  async ready(): Promise<void> {
    const redis = this.#redis
    if (redis.status === 'ready') return
    let lastError: Error | undefined
    const remember = (error: Error): void => {
      lastError = error
    }
    const connected = deferred()
    redis.on('ready', connected.resolve)
    redis.on('error', remember)
    try {
      await this.for(connected.promise)
    } catch (error) {
      throw lastError ?? error
    } finally {
      redis.off('ready', connected.resolve)
      redis.off('error', remember)
    }
  }

  /** Also when the answer comes late: it is a sign of life. */
  #settle(waiter: Waiter, error?: unknown): void {
    this.#waiting.delete(waiter)
    if (error instanceof Error && isRedisTrouble(error)) return
    this.#heardAt = this.#now
    this.#silence = 0
  }

  async #tick(): Promise<void> {
    this.#isTicking = true
    while (this.#waiting.size > 0) {
      await new Promise((resolve) => void setTimeout(resolve, SLICE_MS).unref())
      this.#now += 1
      this.#silence += 1
      for (const waiter of this.#waiting) {
        if (this.#now - Math.max(waiter.since, this.#heardAt) < SLICES) continue
        this.#waiting.delete(waiter)
        waiter.giveUp()
      }
      if (this.#silence >= DEAD_AFTER) this.#reconnect()
    }
    this.#isTicking = false
  }

  /** The other side of a connection that broke unseen is never heard of again. */
  #reconnect(): void {
    this.#silence = 0
    const { status } = this.#redis
    if (status === 'ready' || status === 'connect') this.#redis.disconnect(true)
  }
}
