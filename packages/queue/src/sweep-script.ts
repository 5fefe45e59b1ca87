import type { Redis } from 'ioredis'
import { WRITE_DEAD_LETTER } from './dead-letter.ts'
import { TELL_END } from './follow-lua.ts'
import { bullKey, companionPrefix, deadKey, outboxKey } from './keys.ts'
import { LEAVE_SLOT } from './lot-lua.ts'
import { OUTCOME_FIELD } from './outcome-record.ts'
import { LEAVE_SCHEDULE } from './unfinished-lua.ts'

/** A message that BullMQ gave up by itself. */
export interface Abandoned {
  id: string
  fact: string
  /** Whose unfinished run it was: the uuid of a schedule or backfill, or ''. */
  leaves: string
  letter: readonly string[]
}

/*
 * Ends runs whose messages lie in BullMQ's `failed`: one with a stored end only goes, any other gets its
 * fact and its dead letter first, and only then leaves the list. A message that is no longer there is passed over.
 *   KEYS[1] failed (ZSET)  KEYS[2] outbox (STREAM)  KEYS[3] prefix of the message keys  KEYS[4] prefix of the dead letters' keys
 *   KEYS[5] prefix of the queue's companions
 *   ARGV    per message: id, fact, whose unfinished run it was or '', n, and n fields and values of the dead letter
 *   Returns how many runs were ended as dead.
 */
const SCRIPT = `${WRITE_DEAD_LETTER}${LEAVE_SCHEDULE}${LEAVE_SLOT}${TELL_END}
local ended, at = 0, 1
while ARGV[at] do
  local id, owner, n = ARGV[at], ARGV[at + 2], tonumber(ARGV[at + 3])
  if redis.call('ZSCORE', KEYS[1], id) then
    local message = KEYS[3] .. id
    local outcome = redis.call('HGET', message, '${OUTCOME_FIELD}') or ''
    if not (string.find(outcome, ':succeeded', 1, true) or string.find(outcome, ':dead', 1, true)
        or string.find(outcome, ':cancelled', 1, true)) then
      redis.call('XADD', KEYS[2], '*', 'facts', ARGV[at + 1])
      writeDeadLetter(KEYS[4], id, at + 4, n)
      if owner ~= '' then leaveSchedule(KEYS[3], KEYS[5], owner, id) end
      tellEnd(KEYS[5], id, ARGV[at + 1])
      ended = ended + 1
    end
    leaveSlot(KEYS[3], KEYS[5], id)
    redis.call('ZREM', KEYS[1], id)
    redis.call('DEL', message, message .. ':lock', message .. ':logs', message .. ':dependencies',
      message .. ':processed', message .. ':failed', message .. ':unsuccessful')
  end
  at = at + 4 + n
end
return ended
`

const COMMAND = 'jadwalEndAbandoned'

type Scripted = Redis & { [COMMAND](...args: string[]): Promise<number> }

/** Ends runs that BullMQ gave up; returns how many of them had not ended before. */
export async function endAbandoned(
  redis: Redis,
  queue: { prefix: string; name: string },
  messages: readonly Abandoned[],
): Promise<number> {
  redis.defineCommand(COMMAND, { numberOfKeys: 5, lua: SCRIPT })
  const { prefix, name } = queue
  const keys = [
    bullKey(prefix, name, 'failed'),
    outboxKey(prefix, name),
    bullKey(prefix, name, ''),
    deadKey(prefix, name, ''),
    companionPrefix(prefix, name),
  ]
  const args = messages.flatMap(({ id, fact, leaves, letter }) =>
    [id, fact, leaves, String(letter.length)].concat(letter),
  )
  return (redis as Scripted)[COMMAND](...keys, ...args)
}
