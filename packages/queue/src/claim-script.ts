import { DAY, HOUR } from '@jadwal/domain'
import { addFunctions } from './add-script.ts'
import { FOLLOW } from './follow-lua.ts'

/** An idempotency key stands for its run this long. */
const KEY_MS = DAY
/** A client's id is refused when it is older than a day; an hour more, for clocks that differ. */
export const ID_MS = DAY + HOUR

/**
 * A script that adds the messages of runs that have an idempotency key or an id of their client's, once
 * each: what the key or id belongs to is looked up, and written together with the message. `scripts` are
 * the texts of BullMQ's add scripts.
 */
export function claimScript(scripts: readonly string[]): string {
  return `
-- KEYS[1] any key of the queue's messages (names the slot)  KEYS[2] outbox (STREAM)
-- ARGV[1] what stands before a message's id in its key  ARGV[2] before the names of the queue's companions
-- ARGV[3] JSON of the templates
-- then for each message: number of its template, id, data, key of the claim of its id or '', key of the
--   claim of its idempotency key or '', hash of job and payload, for how long (ms) it is followed or '',
--   fact or ''
-- Returns for each message '' when it was added, or the id of the run that is there already;
-- or, with nothing done, { 'conflict', position from 0, field, id of the first run }
${addFunctions(scripts)}${FOLLOW}
local claims, results, fresh, missing = {}, {}, {}, {}
local function claimOf(key)
  if key == '' then return nil end
  if claims[key] == nil then claims[key] = redis.call('GET', key) end
  return claims[key] or nil
end
for i = 4, #ARGV, 8 do
  local id, byId, byKey, hash = ARGV[i + 1], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5]
  local claim, field = claimOf(byId), 'id'
  if not claim then claim, field = claimOf(byKey), 'idempotencyKey' end
  if claim then
    local first, of = string.match(claim, '^(%S+) (%S+)$')
    if of ~= hash then return { 'conflict', #results, field, first } end
    results[#results + 1] = first
    -- What else the call knows the run by belongs to it too.
    for at, key in ipairs({ byId, byKey }) do
      if key ~= '' and not claimOf(key) then
        claims[key] = claim
        missing[#missing + 1] = { key, at == 1 and ${ID_MS} or ${KEY_MS} }
      end
    end
    if ARGV[i + 6] ~= '' and redis.call('EXISTS', ARGV[1] .. first) == 1 then
      follow(ARGV[2], nowMs(), tonumber(ARGV[i + 6]), first)
    end
  else
    results[#results + 1] = ''
    fresh[#fresh + 1] = i
    claims[byId], claims[byKey] = id .. ' ' .. hash, id .. ' ' .. hash
  end
end
local templates, facts, failure = templatesOf(ARGV[3]), {}, nil
for _, i in ipairs(fresh) do
  local id, byId, byKey, ms, fact = ARGV[i + 1], ARGV[i + 3], ARGV[i + 4], ARGV[i + 6], ARGV[i + 7]
  local added, result = pcall(addMessage, templates[tonumber(ARGV[i])], id, ARGV[i + 2])
  if added then
    if byId ~= '' then redis.call('SET', byId, claims[byId], 'PX', ${ID_MS}) end
    if byKey ~= '' then redis.call('SET', byKey, claims[byKey], 'PX', ${KEY_MS}) end
    if ms ~= '' then follow(ARGV[2], nowMs(), tonumber(ms), id) end
    if fact ~= '' then facts[#facts + 1] = fact end
  elseif not failure then failure = result end
end
if #facts > 0 then redis.call('XADD', KEYS[2], '*', 'facts', table.concat(facts, '\\n')) end
if failure then return failed(failure) end
for _, claim in ipairs(missing) do redis.call('SET', claim[1], claims[claim[1]], 'PX', claim[2]) end
return results
`
}
