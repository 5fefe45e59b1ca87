import type { Redis } from 'ioredis'
import { fairShares } from './fair-shares.ts'
import { jobOfLot } from './key-slot.ts'
import { alertsLeaseKey, bullKey, leaseKey, lotsKey, slotsKey } from './keys.ts'
import { SLOT_FIELD } from './lot-lua.ts'
import { listQueues, readLeader } from './registry.ts'

/** Slots, and attempts, of all queues together: who looks at them looks at a few. */
const MOST = 500

export interface HeldLock {
  /** `leader`, `alerts`, `slot:<queue>:<run id>`, `attempt:<queue>:<run id>`. */
  id: string
  kind: 'leader' | 'alerts' | 'slot' | 'attempt'
  /** Who has it: a scheduler, or a run; of the alerts nobody knows more than its token. */
  holder: string
  queue?: string
  job?: string
  /** What it is a slot of, as Redis has it. */
  lot?: string
  term?: number
  /** ISO 8601. */
  since?: string
  /** In ms; without it lasts until it is given back. */
  expiresInMs?: number
  /** Its holder has gone: it helps nobody. */
  stale: boolean
}

export interface HeldLocks {
  locks: HeldLock[]
  /** There are more slots or attempts. */
  truncated: boolean
}

/**
 * What is held right now, so that a person can see what others wait for. However many queues and lots
 * there are, a few thousand commands find it out, four for each queue among them.
 */
export async function listLocks(redis: Redis, prefix: string): Promise<HeldLocks> {
  const queues = await listQueues(redis, prefix)
  const [leases, slots, attempts] = await Promise.all([
    leaseLocks(redis, prefix),
    slotLocks(redis, prefix, queues),
    attemptLocks(redis, prefix, queues),
  ])
  return {
    locks: [...leases, ...slots.locks, ...attempts.locks],
    truncated: slots.truncated || attempts.truncated,
  }
}

/**
 * The lock with an id, wherever in a long list it is; undefined when nobody holds it. A run can have
 * slots of two lots; the stale one is meant then, as the other can't be released.
 */
export async function findLock(
  redis: Redis,
  prefix: string,
  id: string,
): Promise<HeldLock | undefined> {
  const [, kind, queue = '', runId = ''] = /^(slot|attempt):([^:]+):(.+)$/s.exec(id) ?? []
  if (kind === 'attempt') {
    const place = await redis.lpos(bullKey(prefix, queue, 'active'), runId)
    return place === null ? undefined : await attemptLock(redis, prefix, { queue, id: runId })
  }
  if (kind === 'slot') {
    const slots = await slotsOfRun(redis, prefix, { queue, id: runId })
    return slots.find(({ stale }) => stale) ?? slots[0]
  }
  return (await leaseLocks(redis, prefix)).find((lease) => lease.id === id)
}

async function leaseLocks(redis: Redis, prefix: string): Promise<HeldLock[]> {
  const [leader, leaderMs, alerts, alertsMs] = await Promise.all([
    readLeader(redis, prefix),
    redis.pttl(leaseKey(prefix)),
    redis.get(alertsLeaseKey(prefix)),
    redis.pttl(alertsLeaseKey(prefix)),
  ])
  const locks: HeldLock[] = []
  if (leader && leaderMs > 0)
    locks.push({
      id: 'leader',
      kind: 'leader',
      holder: leader.instance,
      term: leader.term,
      since: leader.since,
      expiresInMs: leaderMs,
      stale: false,
    })
  if (alerts !== null && alertsMs > 0)
    locks.push({
      id: 'alerts',
      kind: 'alerts',
      holder: alerts,
      expiresInMs: alertsMs,
      stale: false,
    })
  return locks
}

interface Place {
  queue: string
  lot: string
}

async function slotLocks(redis: Redis, prefix: string, queues: string[]): Promise<HeldLocks> {
  const lots = await Promise.all(queues.map((queue) => redis.hlen(lotsKey(prefix, queue))))
  const shares = fairShares(lots, MOST)
  const places = (
    await Promise.all(
      queues.map((queue, at) => lotsOf(redis, prefix, { queue, most: shares[at] ?? 0 })),
    )
  ).flat()
  const keys = places.map(({ queue, lot }) => slotsKey(prefix, queue, lot))
  const taken = await Promise.all(keys.map((key) => redis.scard(key)))
  const most = fairShares(taken, MOST)
  const held = await Promise.all(
    places.map(async ({ queue, lot }, at) => {
      const ids = await collect(most[at] ?? 0, (cursor) =>
        redis.sscan(keys[at] ?? '', cursor, 'COUNT', MOST),
      )
      return ids.map((id) => ({ queue, lot, id }))
    }),
  )
  return {
    locks: await Promise.all(held.flat().map((slot) => slotLock(redis, prefix, slot))),
    truncated: sum(lots) > sum(shares) || sum(taken) > sum(most),
  }
}

/** The first of a queue's lots that are of keys. */
async function lotsOf(
  redis: Redis,
  prefix: string,
  { queue, most }: { queue: string; most: number },
): Promise<Place[]> {
  const names = await collect(most, async (cursor) => {
    const [next, pairs] = await redis.hscan(lotsKey(prefix, queue), cursor, 'COUNT', MOST)
    return [next, keyLots(pairs)]
  })
  return names.map((lot) => ({ queue, lot }))
}

/** Every slot of one run: a run that has gone does not say itself where it had one. */
async function slotsOfRun(
  redis: Redis,
  prefix: string,
  { queue, id }: { queue: string; id: string },
): Promise<HeldLock[]> {
  const found = new Set<string>()
  let cursor = '0'
  do {
    const [next, pairs] = await redis.hscan(lotsKey(prefix, queue), cursor, 'COUNT', MOST)
    const lots = keyLots(pairs)
    const has = await Promise.all(
      lots.map((lot) => redis.sismember(slotsKey(prefix, queue, lot), id)),
    )
    for (const [at, lot] of lots.entries()) if (has[at] === 1) found.add(lot)
    cursor = next
  } while (cursor !== '0')
  return await Promise.all([...found].map((lot) => slotLock(redis, prefix, { queue, lot, id })))
}

/** Of what HSCAN answers, names and values in turns, the lots that are of keys. */
function keyLots(pairs: readonly string[]): string[] {
  return pairs.filter((name, at) => at % 2 === 0 && jobOfLot(name) !== undefined)
}

/** The first of what a scan finds. Scans may find things twice, and nothing in a step. */
async function collect(
  most: number,
  scan: (cursor: string) => Promise<[string, string[]]>,
): Promise<string[]> {
  const found = new Set<string>()
  let cursor = '0'
  while (found.size < most) {
    const [next, some] = await scan(cursor)
    for (const each of some) found.add(each)
    if (next === '0') break
    cursor = next
  }
  return [...found].slice(0, most)
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}

/** A slot belongs to its run for as long as the run's message names its lot. */
async function slotLock(
  redis: Redis,
  prefix: string,
  { queue, lot, id }: { queue: string; lot: string; id: string },
): Promise<HeldLock> {
  const message = bullKey(prefix, queue, id)
  const [own, startedMs] = await redis.hmget(message, SLOT_FIELD, 'processedOn')
  const job = jobOfLot(lot)
  return {
    id: `slot:${queue}:${id}`,
    kind: 'slot',
    holder: id,
    queue,
    ...(job === undefined ? {} : { job }),
    lot,
    ...since(startedMs),
    stale: own !== lot,
  }
}

async function attemptLocks(redis: Redis, prefix: string, queues: string[]): Promise<HeldLocks> {
  const keys = queues.map((queue) => bullKey(prefix, queue, 'active'))
  const active = await Promise.all(keys.map((key) => redis.llen(key)))
  const shares = fairShares(active, MOST)
  const held = await Promise.all(
    queues.map(async (queue, at) => {
      const share = shares[at] ?? 0
      const ids = share === 0 ? [] : await redis.lrange(keys[at] ?? '', 0, share - 1)
      return ids.map((id) => ({ queue, id }))
    }),
  )
  return {
    locks: await Promise.all(held.flat().map((attempt) => attemptLock(redis, prefix, attempt))),
    truncated: sum(active) > sum(shares),
  }
}

/** The lock of a message is that of the attempt that a worker makes; without it the worker is gone. */
async function attemptLock(
  redis: Redis,
  prefix: string,
  { queue, id }: { queue: string; id: string },
): Promise<HeldLock> {
  const message = bullKey(prefix, queue, id)
  const [leftMs, [job, startedMs]] = await Promise.all([
    redis.pttl(`${message}:lock`),
    redis.hmget(message, 'name', 'processedOn'),
  ])
  return {
    id: `attempt:${queue}:${id}`,
    kind: 'attempt',
    holder: id,
    queue,
    ...(job == null ? {} : { job }),
    ...since(startedMs),
    ...(leftMs > 0 ? { expiresInMs: leftMs } : {}),
    stale: leftMs < 0,
  }
}

function since(ms: string | null | undefined): { since?: string } {
  return ms == null ? {} : { since: new Date(Number(ms)).toISOString() }
}
