import type { Redis } from 'ioredis'
import { type DueChange, dueChange } from './due-change.ts'
import { bullKey } from './keys.ts'
import { HELD_SCORE } from './unfinished-lua.ts'

/*
 * Makes a run that waits for its next attempt due now. Its attempts count as they did.
 *   KEYS[1] delayed (ZSET)  KEYS[2] the run's message  KEYS[3] marker (ZSET)
 *   ARGV[1] id
 *   Returns when it was due and when it is (ms); or 0 when it does not wait for a retry.
 */
const SCRIPT = `
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) >= ${HELD_SCORE} then return 0 end
if tonumber(redis.call('HGET', KEYS[2], 'atm') or '0') == 0 then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[3], now, '1')
local was = math.floor(tonumber(score) / 4096)
if was <= now then return { was, was } end
redis.call('ZADD', KEYS[1], 'XX', string.format('%.0f', now * 4096), ARGV[1])
return { was, now }
`

/**
 * Lets a run that waits for a retry be made as soon as a worker has a hand free. Undefined when it does
 * not wait for one: it runs, has ended, was never tried, or is held or parked.
 */
export async function retryNow(
  redis: Redis,
  prefix: string,
  { queue, id }: { queue: string; id: string },
): Promise<DueChange | undefined> {
  const keys = [
    bullKey(prefix, queue, 'delayed'),
    bullKey(prefix, queue, id),
    bullKey(prefix, queue, 'marker'),
  ]
  const reply = await redis.eval(SCRIPT, keys.length, ...keys, id)
  return reply === 0 ? undefined : dueChange(reply)
}
