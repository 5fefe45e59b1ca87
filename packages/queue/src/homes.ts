import type { ScheduleId } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { homesKey } from './keys.ts'

/** Schedules asked for in one command. */
const PART = 5_000

/**
 * Where schedules' last ticks are kept: the home of each is the queue that its last run went to. It is
 * written before the first tick is fired into a queue, so a last tick without a home never exists.
 */
export async function readHomes(
  redis: Redis,
  prefix: string,
  ids: readonly ScheduleId[],
): Promise<Map<ScheduleId, string>> {
  const homes = new Map<ScheduleId, string>()
  // A hundred thousand schedules share a few queues: each name is kept once.
  const names = new Map<string, string>()
  for (let at = 0; at < ids.length; at += PART) {
    const part = ids.slice(at, at + PART)
    const found = await redis.hmget(homesKey(prefix), ...part)
    for (const [index, id] of part.entries()) {
      const name = found[index]
      if (name == null) continue
      const known = names.get(name) ?? name
      names.set(known, known)
      homes.set(id, known)
    }
  }
  return homes
}

export async function writeHomes(
  redis: Redis,
  prefix: string,
  homes: ReadonlyMap<ScheduleId, string>,
): Promise<void> {
  if (homes.size > 0) await redis.hset(homesKey(prefix), homes)
}
