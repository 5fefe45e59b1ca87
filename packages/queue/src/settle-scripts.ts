import { DAY } from '@jadwal/domain'
import { addFunctions } from './add-script.ts'
import { REMOVE_DEAD_LETTER } from './dead-letter.ts'

/**
 * What was decided is known in Redis for so long, and from then on by the history alone: longer than
 * any fact should take to get there.
 */
export const DECIDED_MS = 7 * DAY

/** Lua: `discardedFact(id, said)` is the fact of a discard, made of what is kept of it (`discardedText`). */
const DISCARDED_FACT = `
local function discardedFact(id, said)
  return '{"kind":"letter","id":"' .. id .. '","letter":' .. string.sub(said, #'discarded ' + 1) .. '}'
end
`

/**
 * A script that redrives dead letters. Each step may be done again, and a letter leaves only after its
 * new run is in its queue:
 * `claim` says in the letter's slot which queue the new run goes to, and the first to say so holds;
 * `add` puts the new run's message into that queue, once, with its fact;
 * `settle` tells of the decision and takes the letter out.
 * All three are done in one call where both queues are the same, else one after the other in their own
 * slots; then two may have claimed one letter for the same queue, and `settle` says whose it is. Who
 * claims what was decided before has the decision told once more: the history takes the first it hears
 * of, and would wait for ever for one that got lost on its way. `scripts` are the texts of BullMQ's add
 * scripts.
 */
export function redriveScript(scripts: readonly string[]): string {
  return `
-- KEYS[1] prefix of the message keys  KEYS[2] prefix of the dead letters' keys  KEYS[3] outbox (STREAM)
-- KEYS[4] prefix of the queue's companions
-- ARGV[1] the steps  ARGV[2] queue that the new runs go to  ARGV[3] how long decisions are kept (ms)
-- ARGV[4] JSON of the templates
-- then for each letter: id, id of the new run, number of its template, data, fact of the new run, fact
--   of the decision, whose unfinished run it is or '', 1 when the history has the end of
--   the new run
-- Returns for each letter 1 when the steps are done, or what had been decided before.
${addFunctions(scripts)}${REMOVE_DEAD_LETTER}${DISCARDED_FACT}
local claims, adds, settles = string.find(ARGV[1], 'claim'), string.find(ARGV[1], 'add'), string.find(ARGV[1], 'settle')
local templates = adds and templatesOf(ARGV[4])
local results, facts, marks, gone, failure = {}, {}, {}, {}, nil
local function add(i)
  local made = KEYS[4] .. 'redriven:' .. ARGV[i]
  if redis.call('EXISTS', made) == 1 then return true end
  if ARGV[i + 7] ~= '1' then
    local wasThere = redis.call('EXISTS', KEYS[1] .. ARGV[i + 1]) == 1
    local added, result = pcall(addMessage, templates[tonumber(ARGV[i + 2])], ARGV[i + 1], ARGV[i + 3])
    if not added then
      -- What is half made would be taken for made.
      if not wasThere then redis.call('UNLINK', KEYS[1] .. ARGV[i + 1]) end
      failure = result
      return false
    end
    if ARGV[i + 6] ~= '' then redis.call('SADD', KEYS[4] .. 'unfinished:' .. ARGV[i + 6], ARGV[i + 1]) end
    facts[#facts + 1] = ARGV[i + 4]
  end
  marks[#marks + 1] = { made, '1' }
  return true
end
for i = 5, #ARGV, 8 do
  local settled, claim, result = KEYS[4] .. 'settled:' .. ARGV[i], 'claimed ' .. ARGV[2], 1
  if claims then
    local said = redis.call('GET', settled)
    if not said then marks[#marks + 1] = { settled, claim }
    elseif said ~= claim then
      result = said
      local isDiscarded = string.sub(said, 1, 10) == 'discarded '
      if isDiscarded or said == 'redriven' then
        facts[#facts + 1] = isDiscarded and discardedFact(ARGV[i], said) or ARGV[i + 5]
        gone[#gone + 1] = ARGV[i]
      end
    end
  end
  if result == 1 and (not adds or add(i)) and settles then
    if not claims and redis.call('GET', settled) == 'redriven' then result = 'redriven' end
    marks[#marks + 1] = { settled, 'redriven' }
    facts[#facts + 1] = ARGV[i + 5]
    gone[#gone + 1] = ARGV[i]
  end
  results[#results + 1] = result
end
if #facts > 0 then redis.call('XADD', KEYS[3], '*', 'facts', table.concat(facts, '\\n')) end
for _, mark in ipairs(marks) do redis.call('SET', mark[1], mark[2], 'PX', ARGV[3]) end
for _, id in ipairs(gone) do removeDeadLetter(KEYS[2], id) end
if failure then return failed(failure) end
return results
`
}

/*
 * Discards dead letters. May be sent again, and then tells of those that were discarded before.
 *   KEYS[1] prefix of the dead letters' keys  KEYS[2] outbox (STREAM)  KEYS[3] prefix of the queue's companions
 *   ARGV[1] how long decisions are kept (ms)
 *   ARGV    per letter: id, what is kept of the decision
 *   Returns for each letter 1 when it is discarded by this, or what had been decided before.
 */
export const DISCARD_SCRIPT = `${REMOVE_DEAD_LETTER}${DISCARDED_FACT}
local results, facts, gone = {}, {}, {}
for i = 2, #ARGV, 2 do
  local settled = KEYS[3] .. 'settled:' .. ARGV[i]
  local said = redis.call('GET', settled)
  if not said then redis.call('SET', settled, ARGV[i + 1], 'PX', ARGV[1]) end
  local holds = said or ARGV[i + 1]
  if string.sub(holds, 1, 10) == 'discarded ' then
    facts[#facts + 1] = discardedFact(ARGV[i], holds)
    gone[#gone + 1] = ARGV[i]
  end
  results[#results + 1] = said or 1
end
if #facts > 0 then redis.call('XADD', KEYS[2], '*', 'facts', table.concat(facts, '\\n')) end
for _, id in ipairs(gone) do removeDeadLetter(KEYS[1], id) end
return results
`
