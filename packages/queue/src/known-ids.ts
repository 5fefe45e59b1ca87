import type { Redis } from 'ioredis'
import { bullKey, deadKey, idClaimKey, idHomeKey } from './keys.ts'

/** Keys in one command. */
const AT_ONCE = 500

/** Those of the runs, each to go to a queue under an id, whose id no client has claimed before, there or elsewhere. */
export async function unclaimed<T extends { id: string; queue: string }>(
  redis: Redis,
  prefix: string,
  runs: readonly T[],
): Promise<T[]> {
  const pipeline = redis.pipeline()
  for (const { id, queue } of runs)
    pipeline.exists(idClaimKey(prefix, queue, id)).exists(idHomeKey(prefix, id))
  const counts = countsOf(await pipeline.exec())
  return runs.filter((_, at) => counts[at * 2] === 0 && counts[at * 2 + 1] === 0)
}

/** Those of the ids that are of a message, or of a dead letter, of one of the queues. */
export async function idsWithMessage(
  redis: Redis,
  prefix: string,
  { ids, queues }: { ids: readonly string[]; queues: readonly string[] },
): Promise<string[]> {
  const found: string[] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE)
    const keys = queues.flatMap((queue) => [
      some.map((id) => bullKey(prefix, queue, id)),
      some.map((id) => deadKey(prefix, queue, id)),
    ])
    const pipeline = redis.pipeline()
    for (const each of keys) pipeline.exists(...each)
    const counts = countsOf(await pipeline.exec())
    const hits = keys.filter((_, at) => counts[at] !== 0)
    const single = redis.pipeline()
    for (const key of hits.flat()) single.exists(key)
    const exists = countsOf(hits.length === 0 ? [] : await single.exec())
    found.push(
      ...some.filter((_, at) => hits.some((__, of) => exists[of * some.length + at] === 1)),
    )
  }
  return found
}

function countsOf(replies: readonly [Error | null, unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
}
