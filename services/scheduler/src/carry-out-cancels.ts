import { carryOutCancels, listQueues, type RedisClock } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Redis } from 'ioredis'

const EACH_MS = 1_000

/** Cancels runs that wait and were marked by somebody who did not get to do it. Returns ms until the next time. */
export async function carryOutAllCancels(deps: {
  redis: Redis
  redisClock: RedisClock
  prefix: string
  log: Logger
}): Promise<number> {
  const { redis, redisClock, prefix, log } = deps
  const nowIso = new Date(redisClock.nowMs()).toISOString()
  for (const queue of await listQueues(redis, prefix)) {
    const runs = await carryOutCancels({ redis, prefix, nowIso }, queue)
    if (runs > 0) log.info({ queue, runs }, 'runs cancelled')
  }
  return EACH_MS
}
