import type { QueueRate } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { bullKey } from './keys.ts'

/** Clocks differ, and a delayed run that is only just due is no sign of anything. */
const MARGIN_MS = 5_000

const Count = z.coerce.number().nullable()
const Reply = z.tuple([
  z.int(),
  z.int(),
  z.int(),
  z.int(),
  z.tuple([z.string().nullable(), Count, Count]),
  Count,
])

/**
 * Whether a queue has runs that a worker with a free hand could take right now. False for one that is
 * paused, has started as many runs as its rate allows, or has as many in hand as all its workers
 * together may have. `rate` is that of the worker.
 */
export async function workWaits(
  redis: Redis,
  prefix: string,
  { queue, rate, nowMs }: { queue: string; rate?: QueueRate | undefined; nowMs: number },
): Promise<boolean> {
  const key = (part: string): string => bullKey(prefix, queue, part)
  const replies = await redis
    .pipeline()
    .llen(key('wait'))
    .zcard(key('prioritized'))
    // BullMQ's score of a delayed message: ms * 4096 and a sequence number.
    .zcount(key('delayed'), '-inf', (nowMs - MARGIN_MS) * 4_096)
    .llen(key('active'))
    .hmget(key('meta'), 'paused', 'concurrency', 'max')
    // How many were started in this window; gone with it.
    .get(key('limiter'))
    .exec()
  const values = (replies ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
  const [wait, prioritized, due, active, [paused, most, maxOfQueue], started] = Reply.parse(values)
  // As BullMQ has it: what the queue's own settings say goes before what a worker does.
  const max = maxOfQueue ?? rate?.max ?? Infinity
  if (paused !== null || (started ?? 0) >= max || (most !== null && active >= most)) return false
  return wait + prioritized + due > 0
}
