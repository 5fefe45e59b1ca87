import { SECOND } from '@jadwal/domain'
import { listQueues, oldestFactMs } from '@jadwal/queue'
import type { Redis } from 'ioredis'

/** By so much our clock may be behind that of Redis, which dates the facts. */
export const CLOCK_MARGIN_MS = 5 * SECOND

/**
 * Facts from before this instant (ms, by the clock of Redis) have all been recorded, of every queue;
 * Infinity when no fact waits.
 */
export async function recordedUntilMs(redis: Redis, prefix: string): Promise<number> {
  const queues = await listQueues(redis, prefix)
  const oldest = await Promise.all(queues.map((queue) => oldestFactMs(redis, prefix, queue)))
  return Math.min(Infinity, ...oldest)
}
