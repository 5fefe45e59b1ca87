import type { Redis } from 'ioredis'
import { jobOfLot } from './key-slot.ts'
import { alertsLeaseKey, bullKey, leaseKey, lotsKey, slotsKey } from './keys.ts'
import { SLOT_FIELD } from './lot-lua.ts'
import { listQueues, readLeader } from './registry.ts'

/** Of one kind and queue: who looks at them looks at a few. */
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

/** What is held right now, so that a person can see what others wait for. Lists that are long are cut. */
export async function listLocks(redis: Redis, prefix: string): Promise<HeldLock[]> {
  const queues = await listQueues(redis, prefix)
  const perQueue = await Promise.all(
    queues.map(async (queue) => {
      const slots = await slotLocks(redis, prefix, queue)
      return slots.concat(await attemptLocks(redis, prefix, queue))
    }),
  )
  return [...(await leaseLocks(redis, prefix)), ...perQueue.flat()]
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

async function slotLocks(redis: Redis, prefix: string, queue: string): Promise<HeldLock[]> {
  const lots = await redis.hscan(lotsKey(prefix, queue), '0', 'COUNT', MOST)
  const names = lots[1].filter((name, at) => at % 2 === 0 && jobOfLot(name) !== undefined)
  const held = await Promise.all(
    names.map(async (lot) => {
      const [, ids] = await redis.sscan(slotsKey(prefix, queue, lot), '0', 'COUNT', MOST)
      return ids.map((id) => ({ lot, id }))
    }),
  )
  const slots = held.flat().slice(0, MOST)
  return await Promise.all(slots.map(({ lot, id }) => slotLock(redis, prefix, { queue, lot, id })))
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

async function attemptLocks(redis: Redis, prefix: string, queue: string): Promise<HeldLock[]> {
  const ids = await redis.lrange(bullKey(prefix, queue, 'active'), 0, MOST - 1)
  return await Promise.all(ids.map((id) => attemptLock(redis, prefix, { queue, id })))
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
