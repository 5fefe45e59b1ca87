import { randomUUID } from 'node:crypto'
import type { Clock, TermEnd, TermFact } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { eventsKey, leaderKey, leaseFreeChannel, leaseKey, outboxKey, SCHEDULER } from './keys.ts'

/**
 * The lease of the leader. Redis is authoritative: whoever's token is in the lease key leads, until
 * it runs out. Taking, renewing and releasing are one script each; taking also makes the term, which
 * grows for ever, and writes the beginning and end of terms to the scheduler's outbox.
 *
 * A holder trusts its lease from the moment it *sent* the last renewal that was answered, for the
 * lease's length less a margin, by its monotonic clock: whatever happens on the way, it stops
 * trusting before Redis lets go.
 */

const TAKE = `
-- Takes the lease if it is free, begins a term and raises its event.
-- KEYS[1] lease  KEYS[2] leader  KEYS[3] outbox  KEYS[4] events
-- ARGV[1] token  ARGV[2] lease ms  ARGV[3] instance  ARGV[4] now (ISO)
-- Returns the term; or, when another holds the lease, minus the ms that it has left.
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return { 0, math.max(redis.call('PTTL', KEYS[1]), 1) }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('HMGET', KEYS[2], 'term', 'instance', 'since', 'ended')
local facts = {}
if last[1] and not last[4] then
  facts[1] = cjson.encode({ kind = 'term', term = tonumber(last[1]), instance = last[2],
    from_at = last[3], until_at = ARGV[4], reason = 'expired' })
end
local term = math.max((tonumber(last[1]) or 0) + 1, now)
redis.call('HSET', KEYS[2], 'term', string.format('%.0f', term), 'instance', ARGV[3], 'since', ARGV[4])
redis.call('HDEL', KEYS[2], 'ended')
facts[#facts + 1] = string.format('{"kind":"term","term":%.0f,"instance":%s,"from_at":"%s"}',
  term, cjson.encode(ARGV[3]), ARGV[4])
redis.call('XADD', KEYS[3], '*', 'facts', table.concat(facts, '\\n'))
redis.call('XADD', KEYS[4], 'MAXLEN', '~', 10000, '*', 'type', 'leader.changed', 'at', ARGV[4],
  'data', string.format('{"instance":%s,"term":%.0f}', cjson.encode(ARGV[3]), term))
return { 1, string.format('%.0f', term) }
`

const RENEW = `
-- Makes the lease last another full length.
-- KEYS[1] lease  ARGV[1] token  ARGV[2] lease ms  Returns 1, or 0 when it is no longer ours.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`

const RELEASE = `
-- Gives the lease back, ends the term and wakes the standbys.
-- KEYS[1] lease  KEYS[2] leader  KEYS[3] outbox
-- ARGV[1] token  ARGV[2] now (ISO)  ARGV[3] fact of the term's end  ARGV[4] channel
-- Returns 1, or 0 when it was no longer ours.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[2], 'ended', ARGV[2])
redis.call('XADD', KEYS[3], '*', 'facts', ARGV[3])
redis.call('PUBLISH', ARGV[4], 'free')
return 1
`

export interface LeaseOptions {
  prefix: string
  /** How long the lease lasts without a renewal, in ms. */
  leaseMs: number
  /** Who holds it: shown as the leader. */
  instance: string
}

/** A reign: what a holder knows of the lease that it took. */
export interface Reign {
  readonly term: number
  /** Whether the holder may still act. */
  trusted(): boolean
}

export type TakeResult = { taken: true; reign: Reign } | { taken: false; freeInMs: number }

export class Lease {
  readonly #redis: Redis
  readonly #clock: Clock
  readonly #options: LeaseOptions
  #token = ''
  #trustedUntilMs = -Infinity
  #term = 0
  #sinceIso = ''

  constructor(redis: Redis, clock: Clock, options: LeaseOptions) {
    this.#redis = redis
    this.#clock = clock
    this.#options = options
  }

  /** Takes the lease if it is free. `nowIso` dates the term. */
  async take(nowIso: string): Promise<TakeResult> {
    const { prefix, leaseMs, instance } = this.#options
    const token = randomUUID()
    const sentMs = this.#clock.monotonicMs()
    const reply = await this.#redis.eval(
      TAKE,
      4,
      leaseKey(prefix),
      leaderKey(prefix),
      outboxKey(prefix, SCHEDULER),
      eventsKey(prefix),
      token,
      leaseMs,
      instance,
      nowIso,
    )
    const [taken, value] = reply as [number, string | number]
    if (taken !== 1) return { taken: false, freeInMs: Number(value) }
    this.#token = token
    this.#term = Number(value)
    this.#sinceIso = nowIso
    this.#trust(sentMs)
    const trusted = (): boolean =>
      this.#token === token && this.#clock.monotonicMs() < this.#trustedUntilMs
    return { taken: true, reign: { term: this.#term, trusted } }
  }

  /** How many ms the lease has left; 0 when it is free. */
  async freeInMs(): Promise<number> {
    return Math.max(0, await this.#redis.pttl(leaseKey(this.#options.prefix)))
  }

  /** Renews the lease. False: it is lost. An error says nothing: try again while it is trusted. */
  async renew(): Promise<boolean> {
    const sentMs = this.#clock.monotonicMs()
    const token = this.#token
    const { prefix, leaseMs } = this.#options
    const held = await this.#redis.eval(RENEW, 1, leaseKey(prefix), token, leaseMs)
    if (held === 1 && this.#token === token) this.#trust(sentMs)
    return held === 1
  }

  /** Ends the reign: nothing is trusted from here on, and if the lease is still ours it becomes free. */
  async release(nowIso: string, reason: TermEnd = 'released'): Promise<void> {
    const { prefix, instance } = this.#options
    const token = this.#token
    this.#token = ''
    this.#trustedUntilMs = -Infinity
    const fact: TermFact = {
      kind: 'term',
      term: this.#term,
      instance,
      from_at: this.#sinceIso,
      until_at: nowIso,
      reason,
    }
    await this.#redis.eval(
      RELEASE,
      3,
      leaseKey(prefix),
      leaderKey(prefix),
      outboxKey(prefix, SCHEDULER),
      token,
      nowIso,
      JSON.stringify(fact),
      leaseFreeChannel(prefix),
    )
  }

  #trust(sentMs: number): void {
    const { leaseMs } = this.#options
    const marginMs = Math.min(500, Math.max(50, leaseMs * 0.1))
    this.#trustedUntilMs = sentMs + leaseMs - marginMs
  }
}
