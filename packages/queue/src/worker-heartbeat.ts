import type { WorkerInfo } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { workersKey } from './keys.ts'

/** Tells the others that this worker lives, and what it does. */
export async function publishHeartbeat(
  redis: Redis,
  prefix: string,
  info: WorkerInfo,
): Promise<void> {
  await redis.hset(workersKey(prefix), info.instance, JSON.stringify(info))
}

/** Takes this worker off the list, as it does on its way out. */
export async function removeHeartbeat(
  redis: Redis,
  prefix: string,
  instance: string,
): Promise<void> {
  await redis.hdel(workersKey(prefix), instance)
}
