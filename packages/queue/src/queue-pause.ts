import type { Redis } from 'ioredis'
import { z } from 'zod'
import { bullKey, queuePauseKey } from './keys.ts'

/**
 * A paused queue gives its runs to no worker; what is added waits. BullMQ's scripts look at `paused` in
 * the queue's `meta` before they hand over a message, so that is what decides, and it lasts until
 * somebody resumes. Who paused the queue, when and why lies beside it, for people.
 */
export interface QueuePause {
  by: string
  /** ISO 8601. */
  at: string
  reason?: string
}

/** That a queue is paused; `pause` is null when that was not done by Jadwal, so that it does not know by whom. */
export interface QueuePauseState {
  paused: boolean
  pause: QueuePause | null
}

const QueuePauseHash = z
  .object({ by: z.string(), at: z.string(), reason: z.string().optional() })
  .catch({ by: '', at: '' })

/** How a queue stood right before a change and stands right after it: alike where nothing was to be changed. */
export interface QueuePauseChange {
  before: QueuePauseState
  after: QueuePauseState
}

/** Lua: `state()` is whether the queue is paused, 1 or 0, and the fields and values of its pause. */
const STATE = `
local function state()
  return { redis.call('HEXISTS', KEYS[1], 'paused'), redis.call('HGETALL', KEYS[3]) }
end
local before = state()
`

/*
 * Pauses a queue, unless it is.
 *   KEYS[1] meta (HASH)  KEYS[2] marker (ZSET)  KEYS[3] pause (HASH)
 *   ARGV    fields and values of the pause
 *   Returns the state before and after.
 */
const PAUSE = `${STATE}
if before[1] == 1 then return { before, before } end
redis.call('HSET', KEYS[1], 'paused', 1)
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('HSET', KEYS[3], unpack(ARGV))
return { before, state() }
`

/*
 * Resumes a queue. Workers that wait are woken by the marker, as BullMQ's own resume does it: at once, or
 * when the first delayed message is due.
 *   KEYS[1] meta (HASH)  KEYS[2] marker (ZSET)  KEYS[3] pause (HASH)  KEYS[4] wait (LIST)
 *   KEYS[5] prioritized (ZSET)  KEYS[6] delayed (ZSET)
 *   Returns the state before and after.
 */
const RESUME = `${STATE}
redis.call('DEL', KEYS[3])
if redis.call('HDEL', KEYS[1], 'paused') == 0 then return { before, before } end
if redis.call('EXISTS', KEYS[4], KEYS[5]) > 0 then
  redis.call('ZADD', KEYS[2], 0, '0')
else
  local first = redis.call('ZRANGE', KEYS[6], 0, 0, 'WITHSCORES')
  if first[2] then redis.call('ZADD', KEYS[2], math.floor(first[2] / 4096), '1') end
end
return { before, state() }
`

/** Pauses a queue for good. One that was paused before stays as it is, with the pause that it has. */
export async function pauseQueue(
  redis: Redis,
  prefix: string,
  { queue, by, at, reason }: QueuePause & { queue: string },
): Promise<QueuePauseChange> {
  const keys = ['meta', 'marker'].map((part) => bullKey(prefix, queue, part))
  keys.push(queuePauseKey(prefix, queue))
  const fields = ['by', by, 'at', at, ...(reason === undefined ? [] : ['reason', reason])]
  return pauseChange(await redis.eval(PAUSE, keys.length, ...keys, ...fields))
}

/** Lets the runs of a queue be made again. */
export async function resumeQueue(
  redis: Redis,
  prefix: string,
  queue: string,
): Promise<QueuePauseChange> {
  const key = (part: string): string => bullKey(prefix, queue, part)
  const keys = [key('meta'), key('marker'), queuePauseKey(prefix, queue)]
  keys.push(key('wait'), key('prioritized'), key('delayed'))
  return pauseChange(await redis.eval(RESUME, keys.length, ...keys))
}

/** What `state()` returns. */
const StateReply = z.tuple([z.number(), z.array(z.string())]).transform(([paused, flat]) => {
  const fields = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]] as const] : []))
  return pauseState(paused === 1, Object.fromEntries(fields))
})

function pauseChange(reply: unknown): QueuePauseChange {
  const [before, after] = z.tuple([StateReply, StateReply]).parse(reply)
  return { before, after }
}

/** Whether a queue is paused, and by whom. */
export async function readQueuePause(
  redis: Redis,
  prefix: string,
  queue: string,
): Promise<QueuePauseState> {
  const replies = await redis
    .multi()
    .hexists(bullKey(prefix, queue, 'meta'), 'paused')
    .hgetall(queuePauseKey(prefix, queue))
    .exec()
  const [paused, hash] = (replies ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
  return pauseState(paused === 1, hash)
}

/** What the reply to HEXISTS (or HGET) of `paused` and the pause's hash say. */
export function pauseState(paused: boolean, hash: unknown): QueuePauseState {
  const { by, at, reason } = QueuePauseHash.parse(hash)
  const isKnown = paused && by !== ''
  return {
    paused,
    pause: isKnown ? { by, at, ...(reason === undefined ? {} : { reason }) } : null,
  }
}
