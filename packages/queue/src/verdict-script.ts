/**
 * The last command of a firing MULTI. The messages were added before it in the same transaction, so
 * nobody can have touched them: a message that is there was fired; one that is not, while its
 * schedule's exclusive key is, was swallowed because an earlier run is unfinished; anything else was
 * not added, and its tick is owed still.
 */
export const VERDICT_SCRIPT = `
-- Writes the facts of a chunk of ticks by what became of their messages.
-- KEYS[1] outbox  KEYS[2] last-ticks  KEYS[3] any key of the queue's messages (names the slot)
-- ARGV[1] what stands before a message's id in its key  ARGV[2] now (ISO)
-- ARGV[3] facts that are certain already, one a line, or ''
-- then for each tick, oldest first within a schedule:
--   run id, exclusive id or '', schedule id, tick (ms), the fact from after its state on
-- Returns for each tick 1 fired, 2 swallowed, 0 not added.
local base, now = ARGV[1], ARGV[2]
local lines, verdicts, owed = {}, {}, {}
if ARGV[3] ~= '' then lines[1] = ARGV[3] end
local function flush()
  if #lines > 0 then redis.call('XADD', KEYS[1], '*', 'facts', table.concat(lines, '\\n')) end
  lines = {}
end
for i = 4, #ARGV, 5 do
  local id, exclusive, schedule, tick, fact = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  if redis.call('EXISTS', base .. id) == 1 then
    verdicts[#verdicts + 1] = 1
    lines[#lines + 1] = '{"kind":"run","revision":0,"state":"queued",' .. fact
  elseif exclusive ~= '' and redis.call('EXISTS', base .. 'de:' .. exclusive) == 1 then
    verdicts[#verdicts + 1] = 2
    lines[#lines + 1] = '{"kind":"run","revision":3,"state":"skipped","reason":"overlap","finished_at":"'
      .. now .. '",' .. fact
  else
    verdicts[#verdicts + 1] = 0
    if not owed[schedule] then
      owed[schedule] = true
      redis.call('HSET', KEYS[2], schedule, string.format('%.0f', tonumber(tick) - 1))
    end
  end
  if #lines >= 500 then flush() end
end
flush()
return verdicts
`
