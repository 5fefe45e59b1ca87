import type { Redis } from 'ioredis'
import { outboxKey, SCHEDULER } from './keys.ts'
import { listQueues } from './registry.ts'

/** The part of Redis' maxmemory in use, 0 … 1; 0 when no limit is set. */
export async function memoryUse(redis: Redis): Promise<number> {
  const { usedBytes, limitBytes } = await readMemory(redis)
  return limitBytes > 0 ? usedBytes / limitBytes : 0
}

/** The part of Redis' maxmemory that the outboxes of all queues and of the scheduler take; 0 when no limit is set. */
export async function outboxShare(redis: Redis, prefix: string): Promise<number> {
  const [{ limitBytes }, queues] = await Promise.all([readMemory(redis), listQueues(redis, prefix)])
  if (limitBytes === 0) return 0
  const sizes = await Promise.all(
    [...queues, SCHEDULER].map((queue) =>
      redis.memory('USAGE', outboxKey(prefix, queue), 'SAMPLES', SAMPLES),
    ),
  )
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0) / limitBytes
}

async function readMemory(redis: Redis): Promise<{ usedBytes: number; limitBytes: number }> {
  const info = await redis.info('memory')
  const read = (field: string): number =>
    Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  return { usedBytes: read('used_memory'), limitBytes: read('maxmemory') }
}

/** Redis weighs so many nodes of a stream and takes the others to be like them. */
const SAMPLES = 8

/** Above this part of maxmemory producers are turned away. */
export const PRODUCERS_STOP_AT = 0.7

/** Above this part of maxmemory workers stop fetching while outboxes pile up, and the leader holds its ticks. */
export const WORKERS_STOP_AT = 0.8

/**
 * Answers how full Redis is, at once or by asking it: a reading is good for `maxAgeMs`, and while
 * a new one is under way the last one serves.
 */
export function createMemoryGauge(
  redis: Redis,
  clock: { monotonicMs(): number },
  maxAgeMs = 500,
): () => number | Promise<number> {
  let readAtMs = -Infinity
  let last = 0
  let reading: Promise<number> | undefined
  return () => {
    if (clock.monotonicMs() - readAtMs < maxAgeMs) return last
    reading ??= memoryUse(redis)
      .then((use) => {
        last = use
        readAtMs = clock.monotonicMs()
        return use
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }
}
