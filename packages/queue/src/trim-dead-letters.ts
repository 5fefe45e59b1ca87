import type { Redis } from 'ioredis'
import { DIED_AT_FIELD } from './dead-letter.ts'
import { deadKey, outboxRejectedKey } from './keys.ts'

/*
 * Removes the oldest dead letters, those at the tail of the list, up to the first that is young enough.
 * An id whose letter is gone goes too. May be sent again.
 *   KEYS[1] the dead-letter queue's `wait` (LIST)  KEYS[2] prefix of the dead letters' keys
 *   ARGV[1] those that died before this go (ms)  ARGV[2] how many at most
 *   Returns how many it removed.
 */
const SCRIPT = `
local before, most, removed = tonumber(ARGV[1]), tonumber(ARGV[2]), 0
while removed < most do
  local id = redis.call('LINDEX', KEYS[1], -1)
  if not id then break end
  local letter = KEYS[2] .. id
  local times = redis.call('HMGET', letter, '${DIED_AT_FIELD}', 'timestamp')
  local died = tonumber(times[1] or times[2] or '')
  if died and died >= before then break end
  redis.call('RPOP', KEYS[1])
  redis.call('UNLINK', letter, letter .. ':logs')
  removed = removed + 1
end
return removed
`

/**
 * Removes dead letters of runs that died before `beforeMs` (ms since the epoch), oldest first, `batch`
 * of them at most: to be called again while it returns as many. Returns how many it removed.
 */
export async function trimDeadLetters(
  redis: Redis,
  prefix: string,
  { queue, beforeMs, batch }: { queue: string; beforeMs: number; batch: number },
): Promise<number> {
  const keys = [deadKey(prefix, queue, 'wait'), deadKey(prefix, queue, '')]
  return Number(await redis.eval(SCRIPT, 2, ...keys, beforeMs, batch))
}

/**
 * Removes what was put aside before `beforeMs` (ms since the epoch, by Redis' clock) because Postgres
 * refused it. The leaders' terms have a `queue` of their own: `keys.SCHEDULER`. Returns how many it removed.
 */
export async function trimRejected(
  redis: Redis,
  prefix: string,
  { queue, beforeMs }: { queue: string; beforeMs: number },
): Promise<number> {
  return await redis.xtrim(outboxRejectedKey(prefix, queue), 'MINID', beforeMs)
}
