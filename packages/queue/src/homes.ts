import type { ScheduleId } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { homesKey } from './keys.ts'

/**
 * Where each schedule's last tick is kept: its home is the queue that its last run went to. It is
 * written before the first tick is fired into a queue, so a last tick without a home never exists.
 */
export async function readHomes(redis: Redis, prefix: string): Promise<Map<ScheduleId, string>> {
  const homes = await redis.hgetall(homesKey(prefix))
  return new Map(Object.entries(homes) as [ScheduleId, string][])
}

export async function writeHomes(
  redis: Redis,
  prefix: string,
  homes: ReadonlyMap<ScheduleId, string>,
): Promise<void> {
  if (homes.size > 0) await redis.hset(homesKey(prefix), homes)
}
