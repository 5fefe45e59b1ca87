import type { RunMessage } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { bullKey, companionPrefix, outboxKey } from './keys.ts'
import { OUTCOME_FIELD, writeStoredOutcome } from './outcome-record.ts'
import { runMessageOptions } from './run-message.ts'

/** A run whose message is gone and that is to be made again, as the history has it. */
export interface RunToPutBack {
  id: string
  queue: string
  job: string
  message: RunMessage
  priority: number
  enqueuedAtMs: number
  /** When it may start. */
  dueAtMs: number
  /** How many attempts were begun; the next one gets the number after it. */
  attempt: number
  /** Whether the last of them had ended. One that had not counts as lost. */
  attemptEnded: boolean
  failures: number
  /** Whose unfinished run it is: the uuid of a schedule or backfill, or ''. */
  owner: string
  /** Whether it may not run beside others of its owner. */
  alone: boolean
  /** That it is queued again, as JSON. */
  fact: string
}

export type PutBack =
  | 'put-back'
  /** The message is there after all. */
  | 'there'
  /** Another run of its schedule is unfinished. */
  | 'waits'

/*
 * Makes the message of a run that Redis has lost again, in the form in which BullMQ adds one. It goes
 * into `delayed`, from where BullMQ takes it at its time, by its priority.
 *   KEYS[1] outbox (STREAM)  KEYS[2] the run's message  KEYS[3] prefix of the message keys
 *   KEYS[4] prefix of the queue's companions
 *   ARGV[1] id  ARGV[2] when it is due (ms)  ARGV[3] whose unfinished run it is or ''
 *   ARGV[4] '1' when none of the others of those may be living  ARGV[5] fact  ARGV[6…] fields and values of the message
 *   Returns 1; or 0 when the message is there after all, 2 when it has to wait for another, and nothing done.
 */
const SCRIPT = `
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local unfinished = KEYS[4] .. 'unfinished:' .. ARGV[3]
if ARGV[4] == '1' then
  for _, other in ipairs(redis.call('SMEMBERS', unfinished)) do
    if other ~= ARGV[1] and redis.call('EXISTS', KEYS[3] .. other) == 1 then return 2 end
  end
end
redis.call('XADD', KEYS[1], '*', 'facts', ARGV[5])
redis.call('HSET', KEYS[2], unpack(ARGV, 6))
redis.call('ZADD', KEYS[3] .. 'delayed', string.format('%.0f', ARGV[2] * 4096), ARGV[1])
local first = redis.call('ZRANGE', KEYS[3] .. 'delayed', 0, 0, 'WITHSCORES')
redis.call('ZADD', KEYS[3] .. 'marker', math.floor(first[2] / 4096), '1')
if ARGV[3] ~= '' then redis.call('SADD', unfinished, ARGV[1]) end
return 1
`

const RESULTS = ['there', 'put-back', 'waits'] as const

/** Puts a run that Redis has lost back into its queue, under the same id, unless its message is there. */
export async function putBackLostRun(
  redis: Redis,
  prefix: string,
  run: RunToPutBack,
): Promise<PutBack> {
  const { id, queue, dueAtMs, owner, alone, fact } = run
  const keys = [
    outboxKey(prefix, queue),
    bullKey(prefix, queue, id),
    bullKey(prefix, queue, ''),
    companionPrefix(prefix, queue),
  ]
  const mayNotShare = alone && owner !== '' ? '1' : ''
  const args = [id, String(dueAtMs), owner, mayNotShare, fact, ...messageFields(run)]
  const result = Number(await redis.eval(SCRIPT, keys.length, ...keys, ...args))
  return RESULTS[result] ?? 'there'
}

function messageFields(run: RunToPutBack): string[] {
  const { id, enqueuedAtMs, dueAtMs, priority, attempt, attemptEnded, failures } = run
  const delayMs = Math.max(0, dueAtMs - enqueuedAtMs)
  const options = runMessageOptions({ enqueuedAtMs, delayMs, priority })
  const hash: Record<string, string> = {
    name: run.job,
    data: JSON.stringify(run.message),
    opts: JSON.stringify({ ...options, jobId: id }),
    timestamp: String(enqueuedAtMs),
    delay: String(delayMs),
    priority: String(priority),
  }
  if (attempt > 0) {
    hash['ats'] = String(attempt)
    hash['atm'] = String(failures)
    const ended = attemptEnded ? attempt : attempt - 1
    // What was told of them: whoever takes the message next tells of those after it.
    if (ended > 0) hash[OUTCOME_FIELD] = writeStoredOutcome({ kind: 'drained', attempt: ended })
  }
  return Object.entries(hash).flat()
}
