import type { Redis } from 'ioredis'
import { bullKey, unfinishedKey } from './keys.ts'

/**
 * The ids of the unfinished runs of a schedule or backfill. One whose message is gone, because
 * somebody removed it by hand, is taken off the list.
 */
export async function livingRuns(
  redis: Redis,
  prefix: string,
  { queue, owner }: { queue: string; owner: string },
): Promise<string[]> {
  const unfinished = unfinishedKey(prefix, queue, owner)
  const ids = await redis.smembers(unfinished)
  if (ids.length === 0) return []
  const pipeline = redis.pipeline()
  for (const id of ids) pipeline.exists(bullKey(prefix, queue, id))
  const replies = (await pipeline.exec()) ?? []
  const isGone = (at: number): boolean => replies[at]?.[0] === null && replies[at]?.[1] === 0
  const gone = ids.filter((_, at) => isGone(at))
  if (gone.length > 0) await redis.srem(unfinished, ...gone)
  return ids.filter((_, at) => !isGone(at))
}
