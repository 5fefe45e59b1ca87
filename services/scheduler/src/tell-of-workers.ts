import { SECOND } from '@jadwal/domain'
import { type RedisClock, tellWorkers } from '@jadwal/queue'
import type { Redis } from 'ioredis'

const EACH_MS = 2 * SECOND

/** Raises the events of workers that have joined or left. Returns ms until the next time. */
export async function tellOfWorkers(deps: {
  redis: Redis
  redisClock: RedisClock
  prefix: string
}): Promise<number> {
  const { redis, redisClock, prefix } = deps
  await tellWorkers(redis, prefix, redisClock.nowMs())
  return EACH_MS
}
