import { randomUUID } from 'node:crypto'
import { alertKey, AlertState } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { alertsLeaseKey, alertStatesKey, eventsKey } from './keys.ts'

/**
 * The alerts that are pending, open, or ended with that left to be told, and the lease of the one api that
 * evaluates them. They lie in Redis, so that a take-over knows of each what the holder before it knew, also
 * while Postgres is away; the copy in Postgres is for reading, and for a Redis that lost them.
 *
 * Alerts are written by a script that looks whether the lease is still held: who froze and was replaced
 * writes nothing any more.
 */

const HOLD = `
-- Takes the lease if it is free, or makes it last another full length.
-- KEYS[1] lease  ARGV[1] token  ARGV[2] ms  Returns 'taken', 'kept', or 'lost' when another holds it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 'lost' end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return holder and 'kept' or 'taken'
`

const RENEW = `
-- Makes the lease last another full length, if it is still held.
-- KEYS[1] lease  ARGV[1] token  ARGV[2] ms  Returns 1, or 0 when it ran out or another holds it.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`

const SAVE = `
-- Writes and removes alerts.
-- KEYS[1] lease  KEYS[2] alerts  ARGV[1] token  ARGV[2] how many are written
-- ARGV[3 …] their keys and texts, then the keys of those that go  Returns 1, or 0 when the lease is lost.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local written = tonumber(ARGV[2])
for i = 3, written * 2 + 2, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
for i = written * 2 + 3, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
return 1
`

const RELEASE = `
-- Gives the lease back.  KEYS[1] lease  ARGV[1] token
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`

export interface AlertStoreDeps {
  redis: Redis
  prefix: string
  /** After so many ms without a word of its holder the lease is another's. */
  leaseMs: number
}

export class AlertStore {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #leaseMs: number
  readonly #token = randomUUID()

  constructor({ redis, prefix, leaseMs }: AlertStoreDeps) {
    this.#redis = redis
    this.#prefix = prefix
    this.#leaseMs = leaseMs
  }

  /**
   * Whether this one evaluates from here on, for as long as the lease lasts. `taken`: it did not until now, or
   * the lease had run out, so that another may have evaluated since.
   */
  async hold(): Promise<'taken' | 'kept' | 'lost'> {
    const key = alertsLeaseKey(this.#prefix)
    return Held.parse(await this.#redis.eval(HOLD, 1, key, this.#token, this.#leaseMs))
  }

  /**
   * Does what may take longer than the lease, and renews it meanwhile; `lost` aborts when it turns out to be
   * another's, or to have run out.
   */
  async whileHeld<T>(work: (lost: AbortSignal) => Promise<T>): Promise<T> {
    const key = alertsLeaseKey(this.#prefix)
    const lost = new AbortController()
    const renew = async (): Promise<void> => {
      const isHeld = await this.#redis.eval(RENEW, 1, key, this.#token, this.#leaseMs)
      if (isHeld !== 1) lost.abort()
    }
    // Redis may be away for a moment: the next time tells, and so does `save`.
    const timer = setInterval(() => void renew().catch(() => undefined), this.#leaseMs / 3)
    try {
      return await work(lost.signal)
    } finally {
      clearInterval(timer)
    }
  }

  /** Lets another evaluate at once. */
  async release(): Promise<void> {
    await this.#redis.eval(RELEASE, 1, alertsLeaseKey(this.#prefix), this.#token)
  }

  /** Writes alerts, and removes those with these keys. False when the lease is lost, and nothing was written. */
  async save(states: readonly AlertState[], gone: readonly string[]): Promise<boolean> {
    if (states.length + gone.length === 0) return true
    const written = states.flatMap((state) => [alertKey(state), JSON.stringify(state)])
    const keys = [alertsLeaseKey(this.#prefix), alertStatesKey(this.#prefix)]
    const args = [this.#token, states.length, ...written, ...gone]
    return (await this.#redis.eval(SAVE, 2, ...keys, ...args)) === 1
  }

  async read(): Promise<AlertState[]> {
    return await readAlerts(this.#redis, this.#prefix)
  }

  /** The id of the latest event: another one says that something has happened. */
  async lastEventId(): Promise<string> {
    const [last] = await this.#redis.xrevrange(eventsKey(this.#prefix), '+', '-', 'COUNT', 1)
    return last?.[0] ?? ''
  }

  /** The time by the clock of Redis (ms). */
  async nowMs(): Promise<number> {
    const [seconds, micros] = await this.#redis.time()
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  }
}

/** The alerts that are pending, open, or left to be told of; one that this version can't read is left out. */
export async function readAlerts(redis: Redis, prefix: string): Promise<AlertState[]> {
  const texts = await redis.hvals(alertStatesKey(prefix))
  return texts.flatMap((text) => {
    const read = StoredAlert.safeParse(text)
    return read.success ? [read.data] : []
  })
}

const Held = z.enum(['taken', 'kept', 'lost'])

const StoredAlert = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      context.addIssue('is not JSON')
      return z.NEVER
    }
  })
  .pipe(AlertState)
