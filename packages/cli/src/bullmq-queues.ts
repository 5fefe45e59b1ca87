import type { Redis } from 'ioredis'
import { RedisReadError } from './redis-error.ts'

export interface QueueChoice {
  prefix: string
  /** Empty: all of the prefix. */
  queues: readonly string[]
}

/** The queues to read, sorted. Throws RedisReadError on a queue or a prefix that does not exist. */
export async function findQueues(redis: Redis, { prefix, queues }: QueueChoice): Promise<string[]> {
  if (queues.length === 0) {
    const withRepeat = await queuesWith(redis, prefix, 'repeat')
    if (withRepeat.length > 0) return withRepeat
    const known = await knownQueues(redis, prefix)
    if (known.length > 0) return []
    throw new RedisReadError(
      `no queue has the prefix "${prefix}": its keys would begin with "${prefix}:"; --prefix names another one`,
    )
  }
  for (const queue of queues) {
    const keys = ['repeat', 'meta', 'id'].map((key) => `${prefix}:${queue}:${key}`)
    if ((await redis.exists(keys)) > 0) continue
    const known = await knownQueues(redis, prefix)
    const there = known.length > 0 ? `there are ${known.join(', ')}` : 'there is none at all'
    throw new RedisReadError(`no queue "${queue}" has the prefix "${prefix}"; ${there}`)
  }
  return [...new Set(queues)].toSorted()
}

async function knownQueues(redis: Redis, prefix: string): Promise<string[]> {
  const found = [
    ...(await queuesWith(redis, prefix, 'meta')),
    ...(await queuesWith(redis, prefix, 'id')),
  ]
  return [...new Set(found)].toSorted()
}

/** The queues that have a key of that name. */
async function queuesWith(redis: Redis, prefix: string, name: string): Promise<string[]> {
  const pattern = `${prefix.replaceAll(/[\\*?[\]^]/g, '\\$&')}:*:${name}`
  const found = new Set<string>()
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 5_000)
    for (const key of keys) {
      const queue = key.slice(prefix.length + 1, -name.length - 1)
      // Names of queues hold no colon; this is a key of another prefix.
      if (!queue.includes(':')) found.add(queue)
    }
    cursor = next
  } while (cursor !== '0')
  return [...found].toSorted()
}
