import type { Redis } from 'ioredis'
import { deadKey } from './keys.ts'

const MOST = 100
/** Entries of the list of dead letters that one call of a script may go through: some tens of ms of Redis. */
const MOST_ENTRIES = 2_000_000

/**
 * Letters that one call of a script may take out of a queue. Each is looked for in the list of all, and
 * Redis does nothing else meanwhile, so the longer the list the fewer.
 */
export async function lettersAtOnce(redis: Redis, prefix: string, queue: string): Promise<number> {
  const length = await redis.llen(deadKey(prefix, queue, 'wait'))
  return Math.max(1, Math.min(MOST, Math.floor(MOST_ENTRIES / Math.max(1, length))))
}
