import type { Redis } from 'ioredis'

/** The part of Redis' maxmemory in use, 0 … 1; 0 when no limit is set. */
export async function memoryUse(redis: Redis): Promise<number> {
  const info = await redis.info('memory')
  const limit = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0)
  const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0)
  return limit > 0 ? used / limit : 0
}

/** Above this part of maxmemory producers are turned away. */
export const PRODUCERS_STOP_AT = 0.7

/** Above this part of maxmemory workers stop fetching while outboxes pile up, and the leader holds its ticks. */
export const WORKERS_STOP_AT = 0.8

/**
 * Answers how full Redis is without asking it each time: a reading is good for `maxAgeMs`, and while
 * a new one is under way the last one serves.
 */
export function createMemoryGauge(
  redis: Redis,
  clock: { monotonicMs(): number },
  maxAgeMs = 500,
): () => Promise<number> {
  let readAtMs = -Infinity
  let last = 0
  let reading: Promise<number> | undefined
  return async () => {
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
    return await reading
  }
}
