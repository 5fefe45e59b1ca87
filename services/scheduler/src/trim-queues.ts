import { DAY, HOUR } from '@jadwal/domain'
import { keys, listQueues, type RedisClock, trimDeadLetters, trimRejected } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Redis } from 'ioredis'

/** Dead letters that go in one round and queue. */
const AT_ONCE = 1_000
const AGAIN_MS = 1_000

export interface TrimQueuesDeps {
  redis: Redis
  redisClock: RedisClock
  prefix: string
  log: Logger
  retentionDays: number
}

/**
 * Lets dead letters and refused facts go with the retention of the history, or Redis would fill up
 * with them. Returns ms until the next time.
 */
export async function trimQueues(deps: TrimQueuesDeps): Promise<number> {
  const { redis, redisClock, prefix, log, retentionDays } = deps
  const beforeMs = redisClock.nowMs() - retentionDays * DAY
  let more = false
  for (const queue of await listQueues(redis, prefix)) {
    const deadLetters = await trimDeadLetters(redis, prefix, { queue, beforeMs, batch: AT_ONCE })
    await trimRejected(redis, prefix, { queue, beforeMs })
    if (deadLetters > 0)
      log.info({ queue, deadLetters }, 'dead letters beyond the retention removed')
    more ||= deadLetters === AT_ONCE
  }
  await trimRejected(redis, prefix, { queue: keys.SCHEDULER, beforeMs })
  return more ? AGAIN_MS : HOUR
}
