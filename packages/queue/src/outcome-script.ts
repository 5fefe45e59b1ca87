import type { Redis } from 'ioredis'
import { WRITE_DEAD_LETTER } from './dead-letter.ts'
import { TELL_END } from './follow-lua.ts'
import { bullKey, companionPrefix, deadKey, outboxKey } from './keys.ts'
import { LEAVE_SLOT } from './lot-lua.ts'
import { OUTCOME_FIELD } from './outcome-record.ts'
import { LEAVE_SCHEDULE } from './unfinished-lua.ts'
import { RUNS_WHEN_FULL } from './when-full.ts'

/** The outcome of one attempt, ready to be written. */
export interface Outcome {
  id: string
  /** Must still be in the message's lock, else the attempt was lost. */
  token: string
  /** For the message's hash: see StoredOutcome. */
  stored: string
  /** Facts as JSON, one a line; empty when there is nothing to tell. */
  facts: string
  /** Whose unfinished run it was, when it has ended: the uuid of a schedule or backfill. */
  leaves?: string
  /** Whether it frees the slot that the run may have. */
  freesSlot?: boolean
  /** The dead letter's fields and values, when the run is dead. */
  letter?: readonly string[]
}

/*
 * Writes the outcomes of attempts, each only while its message's lock holds the attempt's token: appends
 * the facts of all that were accepted to the outbox as one entry, stores each outcome in its message's
 * hash, and puts dead runs into the dead-letter queue. What fails midway stays half done, so the facts
 * come first: an end that is stored without its fact would never be told. May be sent again.
 *   KEYS[1] outbox (STREAM)   KEYS[2] prefix of the message keys   KEYS[3] prefix of the dead letters' keys
 *   KEYS[4] prefix of the queue's companions
 *   ARGV    per outcome: id, token, stored outcome, facts, whose unfinished run it was or '', 1 when it
 *           frees the run's slot or '', n, and n fields and values of the dead letter
 *   Returns the positions (from 0) of the outcomes that were refused.
 */
const SCRIPT = `${RUNS_WHEN_FULL}${WRITE_DEAD_LETTER}${LEAVE_SCHEDULE}${LEAVE_SLOT}${TELL_END}
local ends = { succeeded = true, dead = true, cancelled = true }
local refused, accepted, facts = {}, {}, {}
local at, position = 1, 0
while ARGV[at] do
  if redis.call('GET', KEYS[2] .. ARGV[at] .. ':lock') == ARGV[at + 1] then
    accepted[#accepted + 1] = at
    if ARGV[at + 3] ~= '' then facts[#facts + 1] = ARGV[at + 3] end
  else
    refused[#refused + 1] = position
  end
  at = at + 7 + tonumber(ARGV[at + 6])
  position = position + 1
end
if #facts > 0 then redis.call('XADD', KEYS[1], '*', 'facts', table.concat(facts, '\\n')) end
local isAnyFollowed = redis.call('EXISTS', KEYS[4] .. 'followed') == 1
for _, from in ipairs(accepted) do
  local id, owner, n = ARGV[from], ARGV[from + 4], tonumber(ARGV[from + 6])
  redis.call('HSET', KEYS[2] .. id, '${OUTCOME_FIELD}', ARGV[from + 2])
  if n > 0 then writeDeadLetter(KEYS[3], id, from + 7, n) end
  if owner ~= '' then leaveSchedule(KEYS[2], KEYS[4], owner, id) end
  if ARGV[from + 5] ~= '' then leaveSlot(KEYS[2], KEYS[4], id) end
  if isAnyFollowed and ends[string.match(ARGV[from + 2], ':(%a+)')] then
    -- Anchored: else it would be tried anew at each character of a fact.
    tellEnd(KEYS[4], id, string.match(ARGV[from + 3], '^.*\\n(.*)') or ARGV[from + 3])
  end
end
return refused
`

const COMMAND = 'jadwalWriteOutcomes'

type Scripted = Redis & { [COMMAND](...args: string[]): Promise<number[]> }

export type WriteOutcomes = (outcomes: readonly Outcome[]) => Promise<ReadonlySet<number>>

const NONE_REFUSED: ReadonlySet<number> = new Set()

/** A function that writes outcomes of a queue's runs in one round trip and returns the positions of those refused. */
export function outcomeScript(redis: Redis, prefix: string, queue: string): WriteOutcomes {
  redis.defineCommand(COMMAND, { numberOfKeys: 4, lua: SCRIPT })
  const scripted = redis as Scripted
  const keys = [
    outboxKey(prefix, queue),
    bullKey(prefix, queue, ''),
    deadKey(prefix, queue, ''),
    companionPrefix(prefix, queue),
  ]
  return async (outcomes) => {
    const args = [...keys]
    for (const { id, token, stored, facts, leaves = '', freesSlot, letter } of outcomes) {
      args.push(id, token, stored, facts, leaves, freesSlot ? '1' : '')
      args.push(letter ? String(letter.length) : '0')
      if (letter) args.push(...letter)
    }
    const refused = await scripted[COMMAND](...args)
    return refused.length === 0 ? NONE_REFUSED : new Set(refused)
  }
}
