import type { Redis } from 'ioredis'
import { bullKey } from './keys.ts'

/** Where messages lie that have not ended. */
const LISTS = ['wait', 'active'] as const
const SORTED = ['prioritized', 'delayed'] as const

/** A run whose message has not ended. */
export interface LivingRun {
  queue: string
  id: string
}

/**
 * The runs that came last to each place of each queue, `perPlace` of each at most, highest id first:
 * in `prioritized` those of the lowest priority, in `delayed` (parked and held runs too) those due last. What
 * lies deeper is not among them, so its price does not grow with what waits.
 */
export async function listNewestLiving(
  redis: Redis,
  prefix: string,
  { queues, perPlace }: { queues: readonly string[]; perPlace: number },
): Promise<LivingRun[]> {
  const pipeline = redis.pipeline()
  for (const queue of queues) {
    for (const place of LISTS) pipeline.lrange(bullKey(prefix, queue, place), 0, perPlace - 1)
    for (const place of SORTED)
      pipeline.zrange(bullKey(prefix, queue, place), 0, perPlace - 1, 'REV')
  }
  const places = LISTS.length + SORTED.length
  const replies = queues.length === 0 ? [] : ((await pipeline.exec()) ?? [])
  const living = new Map<string, LivingRun>()
  for (const [at, [error, ids]] of replies.entries()) {
    if (error) throw error
    const queue = queues[Math.floor(at / places)] ?? ''
    for (const id of ids as string[]) if (UUID.test(id)) living.set(id, { queue, id })
  }
  return [...living.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1))
}

/** BullMQ's markers and messages that are no runs have other ids. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
