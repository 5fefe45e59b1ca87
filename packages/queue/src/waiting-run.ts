import type { Redis } from 'ioredis'
import { z } from 'zod'
import { jobOfLot } from './key-slot.ts'
import {
  bullKey,
  cancelsKey,
  fuseKey,
  fuseLot,
  fuseProbesKey,
  lotsKey,
  parkedKey,
  queuePauseKey,
  slotsKey,
  unfinishedKey,
} from './keys.ts'
import { LOT_FIELD } from './lot-lua.ts'
import { OUTCOME_FIELD, readStoredOutcome, type StoredOutcome } from './outcome-record.ts'
import { pauseState, type QueuePauseState } from './queue-pause.ts'
import { isHeldScore } from './unfinished-lua.ts'

/**
 * So many ids of a list are looked through for a run, from each of its ends: Redis does nothing else
 * meanwhile, so a place far from both ends of a long list is only bounded.
 */
const LOOKED_THROUGH = 10_000
/** So many of the runs that another waits for are named. */
const NAMED = 20

/** How many go before a run: exactly, or at least and at most. */
export interface Position {
  atLeast: number
  atMost: number
}

/** What keeps a run that is parked. */
export type Lot =
  | { kind: 'key'; job: string; key: string; limit: number; holders: string[]; position: Position }
  | { kind: 'fuse'; job: string; position: Position }

/** What Redis knows of a run that may not have been started, beside what a fact tells. */
export interface WaitingRun {
  /** Version of the message's form, as it was sent. */
  form: unknown
  job: string
  /** Since it has no lock any more, nobody works on it, though it is `active`. */
  place: 'wait' | 'prioritized' | 'delayed' | 'held' | 'parked' | 'active' | 'nowhere'
  hasLock: boolean
  /** Of a delayed run: when it is due (ms). */
  dueAtMs?: number
  /** Of one that waits for a hand: how many are taken before it. */
  ahead?: Position
  priority: number
  outcome: StoredOutcome | undefined
  /** Somebody asked for its end. */
  cancelAsked: boolean
  queue: QueuePauseState & {
    waiting: number
    /** Runs in hand, of all workers. */
    active: number
    /** Of the queue's own settings in BullMQ, which go before those of workers. */
    mostAtOnce?: number
    rateMax?: number
    /** How many started in the window of the rate, and how long (ms) that still lasts. */
    started: number
    rateForMs?: number
  }
  lot?: Lot
  /** Of a held run: the unfinished runs of its schedule. */
  waitsFor?: { count: number; ids: string[] }
  /** The fuse of its job, unless it is closed. */
  fuse?: { state: 'open' | 'probing'; openedAtMs: number; untilMs: number; probes: number }
}

const Text = z.string().nullable()
const Index = z.int().nullable()

/**
 * Looks at a run's message and everything that may keep it from being started, in three round trips
 * whose cost is bounded however many runs wait. Undefined when Redis has no such message in the queue.
 */
export async function readWaitingRun(
  redis: Redis,
  prefix: string,
  { queue, id, owner }: { queue: string; id: string; owner: string | undefined },
): Promise<WaitingRun | undefined> {
  const message = bullKey(prefix, queue, id)
  const fields = ['name', 'data', 'priority', LOT_FIELD, OUTCOME_FIELD]
  const [hash, delayed, rank, active, lock, cancel] = await ask(redis, [
    ['hmget', message, ...fields],
    ['zscore', bullKey(prefix, queue, 'delayed'), id],
    ['zrank', bullKey(prefix, queue, 'prioritized'), id],
    ['lpos', bullKey(prefix, queue, 'active'), id, 'MAXLEN', LOOKED_THROUGH],
    ['exists', `${message}:lock`],
    ['hexists', cancelsKey(prefix, queue), id],
  ])
  const [name, data, priority, lotName, outcome] = z.array(Text).parse(hash)
  if (name == null) return undefined
  const score = Text.parse(delayed)
  const isHeld = score !== null && isHeldScore(score)
  const hasLock = lock === 1
  const state = await readQueue(redis, prefix, { queue, job: name })
  const told = {
    form: formOf(data),
    job: name,
    hasLock,
    priority: Number(priority ?? 0),
    outcome: readStoredOutcome(outcome ?? null),
    cancelAsked: cancel === 1,
    ...state,
  }
  if (isHeld && lotName != null) {
    const lot = await readLot(redis, prefix, { queue, id, name: lotName })
    return { ...told, place: 'parked', lot }
  }
  if (isHeld) {
    const waitsFor = await readUnfinished(redis, unfinishedKey(prefix, queue, owner ?? ''), id)
    return { ...told, place: 'held', waitsFor }
  }
  if (score !== null) {
    const dueAtMs = Math.floor(Number(score) / 4_096)
    const before = await redis.zcount(bullKey(prefix, queue, 'delayed'), '-inf', `(${score}`)
    return { ...told, place: 'delayed', dueAtMs, ahead: exactly(state.queue.waiting + before) }
  }
  if (hasLock || Index.parse(active) !== null) return { ...told, place: 'active' }
  const atRank = Index.parse(rank)
  if (atRank !== null) {
    const unprioritized = await redis.llen(bullKey(prefix, queue, 'wait'))
    return { ...told, place: 'prioritized', ahead: exactly(unprioritized + atRank) }
  }
  const ahead = await placeInList(redis, bullKey(prefix, queue, 'wait'), { id, from: 'right' })
  return ahead ? { ...told, place: 'wait', ahead } : { ...told, place: 'nowhere' }
}

async function readQueue(
  redis: Redis,
  prefix: string,
  { queue, job }: { queue: string; job: string },
): Promise<Pick<WaitingRun, 'queue' | 'fuse'>> {
  const [meta, pause, wait, prioritized, active, started, ttl, fuse, probes] = await ask(redis, [
    ['hmget', bullKey(prefix, queue, 'meta'), 'paused', 'concurrency', 'max'],
    ['hgetall', queuePauseKey(prefix, queue)],
    ['llen', bullKey(prefix, queue, 'wait')],
    ['zcard', bullKey(prefix, queue, 'prioritized')],
    ['llen', bullKey(prefix, queue, 'active')],
    ['get', bullKey(prefix, queue, 'limiter')],
    ['pttl', bullKey(prefix, queue, 'limiter')],
    ['hmget', fuseKey(prefix, queue, job), 'state', 'openedAt', 'until'],
    ['hlen', fuseProbesKey(prefix, queue, job)],
  ])
  const [paused, mostAtOnce, rateMax] = z.array(Text).parse(meta)
  const [fuseState, openedAt, until] = z.array(Text).parse(fuse)
  const ttlMs = z.int().parse(ttl)
  return {
    queue: {
      ...pauseState(paused !== null, pause),
      waiting: z.int().parse(wait) + z.int().parse(prioritized),
      active: z.int().parse(active),
      ...(mostAtOnce == null ? {} : { mostAtOnce: Number(mostAtOnce) }),
      ...(rateMax == null ? {} : { rateMax: Number(rateMax) }),
      started: Number(Text.parse(started) ?? 0),
      ...(ttlMs > 0 ? { rateForMs: ttlMs } : {}),
    },
    ...(fuseState === 'open' || fuseState === 'probing'
      ? {
          fuse: {
            state: fuseState,
            openedAtMs: Number(openedAt ?? 0),
            untilMs: Number(until ?? 0),
            probes: z.int().parse(probes),
          },
        }
      : {}),
  }
}

async function readLot(
  redis: Redis,
  prefix: string,
  { queue, id, name }: { queue: string; id: string; name: string },
): Promise<Lot> {
  const parked = parkedKey(prefix, queue, name)
  const position = (await placeInList(redis, parked, { id, from: 'left' })) ?? exactly(0)
  const job = jobOfLot(name)
  if (job === undefined) return { kind: 'fuse', job: name.slice(fuseLot('').length), position }
  const [limit, holders] = await ask(redis, [
    ['hget', lotsKey(prefix, queue), name],
    ['srandmember', slotsKey(prefix, queue, name), NAMED],
  ])
  const ids = z.array(z.string()).parse(holders).toSorted()
  const key = name.slice(`key:${job}:`.length)
  return { kind: 'key', job, key, limit: Number(limit ?? 0), holders: ids, position }
}

async function readUnfinished(
  redis: Redis,
  key: string,
  id: string,
): Promise<{ count: number; ids: string[] }> {
  const [count, some] = await ask(redis, [
    ['scard', key],
    ['srandmember', key, NAMED + 1],
  ])
  const ids = z
    .array(z.string())
    .parse(some)
    .filter((other) => other !== id)
  return { count: Math.max(0, z.int().parse(count) - 1), ids: ids.slice(0, NAMED).toSorted() }
}

/** How many of a list are taken before one of them; undefined when it is not there. */
async function placeInList(
  redis: Redis,
  key: string,
  { id, from }: { id: string; from: 'left' | 'right' },
): Promise<Position | undefined> {
  const [length, left, right] = await ask(redis, [
    ['llen', key],
    ['lpos', key, id, 'MAXLEN', LOOKED_THROUGH],
    ['lpos', key, id, 'RANK', -1, 'MAXLEN', LOOKED_THROUGH],
  ])
  const count = z.int().parse(length)
  const at = Index.parse(left) ?? Index.parse(right)
  if (at !== null) return exactly(from === 'left' ? at : count - 1 - at)
  if (count <= LOOKED_THROUGH) return undefined
  return { atLeast: LOOKED_THROUGH, atMost: count - 1 }
}

function exactly(count: number): Position {
  return { atLeast: count, atMost: count }
}

/** Sends commands in one round trip. Rejects with the first error. */
async function ask(redis: Redis, commands: (string | number)[][]): Promise<unknown[]> {
  const replies = (await redis.pipeline(commands).exec()) ?? []
  return replies.map(([error, value]) => {
    if (error) throw error
    return value
  })
}

function formOf(data: string | null | undefined): unknown {
  try {
    const parsed: unknown = JSON.parse(data ?? '')
    return parsed === null || typeof parsed !== 'object' ? undefined : Reflect.get(parsed, 'v')
  } catch {
    return undefined
  }
}
