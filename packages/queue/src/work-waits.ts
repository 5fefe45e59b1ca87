import type { Redis } from 'ioredis'
import { z } from 'zod'
import { bullKey } from './keys.ts'

/** Clocks differ, and a delayed run that is only just due is no sign of anything. */
const MARGIN_MS = 5_000

const Reply = z.tuple([
  z.int(),
  z.int(),
  z.int(),
  z.int(),
  z.tuple([z.string().nullable(), z.coerce.number().nullable()]),
  z.int(),
])

/**
 * Whether a queue has runs that a worker with a free hand could take right now. False for one that is
 * paused, at its rate, or has as many runs in hand as all its workers together may have.
 */
export async function workWaits(
  redis: Redis,
  prefix: string,
  { queue, nowMs }: { queue: string; nowMs: number },
): Promise<boolean> {
  const key = (part: string): string => bullKey(prefix, queue, part)
  const replies = await redis
    .pipeline()
    .llen(key('wait'))
    .zcard(key('prioritized'))
    // BullMQ's score of a delayed message: ms * 4096 and a sequence number.
    .zcount(key('delayed'), '-inf', (nowMs - MARGIN_MS) * 4_096)
    .llen(key('active'))
    .hmget(key('meta'), 'paused', 'concurrency')
    .pttl(key('limiter'))
    .exec()
  const values = (replies ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
  const [wait, prioritized, due, active, [paused, most], limitedMs] = Reply.parse(values)
  if (paused !== null || limitedMs > 0 || (most !== null && active >= most)) return false
  return wait + prioritized + due > 0
}
