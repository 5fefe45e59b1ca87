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

/*
 * Pauses a queue, unless it is.
 *   KEYS[1] meta (HASH)  KEYS[2] marker (ZSET)  KEYS[3] pause (HASH)
 *   ARGV    fields and values of the pause
 *   Returns 1; or 0 when it was paused before.
 */
const PAUSE = `
if redis.call('HEXISTS', KEYS[1], 'paused') == 1 then return 0 end
redis.call('HSET', KEYS[1], 'paused', 1)
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('HSET', KEYS[3], unpack(ARGV))
return 1
`

/*
 * Resumes a queue. Workers that wait are woken by the marker, as BullMQ's own resume does it: at once, or
 * when the first delayed message is due.
 *   KEYS[1] meta (HASH)  KEYS[2] marker (ZSET)  KEYS[3] pause (HASH)  KEYS[4] wait (LIST)
 *   KEYS[5] prioritized (ZSET)  KEYS[6] delayed (ZSET)
 *   Returns 1; or 0 when it was not paused.
 */
const RESUME = `
redis.call('DEL', KEYS[3])
if redis.call('HDEL', KEYS[1], 'paused') == 0 then return 0 end
if redis.call('EXISTS', KEYS[4], KEYS[5]) > 0 then
  redis.call('ZADD', KEYS[2], 0, '0')
else
  local first = redis.call('ZRANGE', KEYS[6], 0, 0, 'WITHSCORES')
  if first[2] then redis.call('ZADD', KEYS[2], math.floor(first[2] / 4096), '1') end
end
return 1
`

/** Pauses a queue for good. False when it was paused before: that pause stands as it is. */
export async function pauseQueue(
  redis: Redis,
  prefix: string,
  { queue, by, at, reason }: QueuePause & { queue: string },
): Promise<boolean> {
  const keys = ['meta', 'marker'].map((part) => bullKey(prefix, queue, part))
  keys.push(queuePauseKey(prefix, queue))
  const fields = ['by', by, 'at', at, ...(reason === undefined ? [] : ['reason', reason])]
  return (await redis.eval(PAUSE, keys.length, ...keys, ...fields)) === 1
}

/** Lets the runs of a queue be made again. False when it was not paused. */
export async function resumeQueue(redis: Redis, prefix: string, queue: string): Promise<boolean> {
  const key = (part: string): string => bullKey(prefix, queue, part)
  const keys = [key('meta'), key('marker'), queuePauseKey(prefix, queue)]
  keys.push(key('wait'), key('prioritized'), key('delayed'))
  return (await redis.eval(RESUME, keys.length, ...keys)) === 1
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
