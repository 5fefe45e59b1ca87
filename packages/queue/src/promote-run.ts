import { revision } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { type DueChange, dueChange } from './due-change.ts'
import { readMessage } from './find-run.ts'
import { bullKey, outboxKey } from './keys.ts'
import { factLine } from './run-fact.ts'
import { HELD_SCORE } from './unfinished-lua.ts'

/** What came of making a delayed run due. */
export type Promotion =
  /** When it was due, and when it is: now. */
  | DueChange
  /** It does not wait for its time: it is due, runs, has ended, or there is no such run in this queue. */
  | 'not-delayed'
  /** It waits for other runs, not for its time: it is held, or parked in a lot. */
  | 'held'

/** Of a run that was put forward before its first attempt: above the fact that it is queued, below all others. */
const PUT_FORWARD = revision(0, 'queued') + 1
/** The message of a run that somebody else changes meanwhile is read again, this often. */
const READS = 5

/*
 * Makes a run that waits for its time due now. One that was never started is told as queued for now.
 *   KEYS[1] delayed (ZSET)  KEYS[2] the run's message  KEYS[3] marker (ZSET)  KEYS[4] outbox (STREAM)
 *   ARGV[1] id  ARGV[2] its options as they were read  ARGV[3] as they are to be  ARGV[4] its delay (ms)
 *   ARGV[5] fact or '', when it was started before
 *   Returns when it was due and when it is (ms); 0 when it does not wait for its time; 2 when it is held
 *   or parked; -1 when it has changed.
 */
const SCRIPT = `
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score then return 0 end
if tonumber(score) >= ${HELD_SCORE} then return 2 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(score) <= now * 4096 then return 0 end
local message = redis.call('HMGET', KEYS[2], 'opts', 'ats')
local wasStarted = tonumber(message[2] or '0') > 0
if message[1] ~= ARGV[2] or wasStarted ~= (ARGV[5] == '') then return -1 end
if not wasStarted then
  redis.call('XADD', KEYS[4], '*', 'facts', ARGV[5])
  redis.call('HSET', KEYS[2], 'opts', ARGV[3], 'delay', ARGV[4])
end
redis.call('ZADD', KEYS[1], 'XX', string.format('%.0f', now * 4096), ARGV[1])
redis.call('ZADD', KEYS[3], now, '1')
return { math.floor(tonumber(score) / 4096), now }
`

/** Lets a delayed run, or one that waits for a retry, be made as soon as a worker has a hand free. */
export async function promoteRun(
  redis: Redis,
  prefix: string,
  { queue, id, nowMs }: { queue: string; id: string; nowMs: number },
): Promise<Promotion> {
  const message = bullKey(prefix, queue, id)
  const keys = [bullKey(prefix, queue, 'delayed'), message, bullKey(prefix, queue, 'marker')]
  keys.push(outboxKey(prefix, queue))
  for (let read = 0; read < READS; read += 1) {
    const run = await readMessage(redis, prefix, { queue, id })
    const opts = await redis.hget(message, 'opts')
    if (!run || opts === null) return 'not-delayed'
    const { progress: _, ...fact } = run
    // Counted from when it was enqueued: how long it waits counts from when it is due.
    const delayMs = Math.max(1, nowMs - Date.parse(run.enqueued_at))
    const run_at = new Date(Date.parse(run.enqueued_at) + delayMs).toISOString()
    const told = run.attempt === 0 ? factLine({ ...fact, revision: PUT_FORWARD, run_at }) : ''
    const args = [id, opts, withDelay(opts, delayMs), String(delayMs), told]
    const result = await redis.eval(SCRIPT, keys.length, ...keys, ...args)
    if (Array.isArray(result)) return dueChange(result)
    if (result === 2) return 'held'
    if (result === 0) return 'not-delayed'
  }
  return 'not-delayed'
}

function withDelay(opts: string, delay: number): string {
  return JSON.stringify({ ...(JSON.parse(opts) as object), delay })
}
