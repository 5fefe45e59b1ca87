import type { Redis } from 'ioredis'

/** Everything that Redis has under keys with `prefix` in their name, as one text: to look for what must not be there. */
export async function redisText(redis: Redis, prefix: string): Promise<string> {
  const texts: unknown[] = []
  for (const key of await redis.keys(`*${prefix}*`)) {
    const type = await redis.type(key)
    if (type === 'string') texts.push(await redis.get(key))
    if (type === 'hash') texts.push(await redis.hgetall(key))
    if (type === 'list') texts.push(await redis.lrange(key, 0, -1))
    if (type === 'set') texts.push(await redis.smembers(key))
    if (type === 'zset') texts.push(await redis.zrange(key, 0, -1))
    if (type === 'stream') texts.push(await redis.xrange(key, '-', '+'))
  }
  return JSON.stringify(texts)
}
