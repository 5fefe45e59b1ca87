import type { OverlapPolicy } from '@jadwal/domain'
import type { ChainableCommander } from 'ioredis'
import { bullKey, cancelChannel, companionPrefix, lastTicksKey, outboxKey } from './keys.ts'
import { OVERLAP } from './unfinished-lua.ts'

/** A run whose message was added earlier in the same MULTI. */
export interface AddedRun {
  id: string
  /** Of the unfinished set: the uuid of a schedule or backfill. */
  owner: string
  /** `refuse`: as `skip`, but a run that may not be leaves nothing behind. */
  overlap: OverlapPolicy | 'refuse'
  /** Where the last tick is kept that is set back if the message was not added; '' for nowhere. */
  field: string
  tickAtMs: number
  dueAtMs: number
  /** The run's fact as JSON, from after its state on. */
  fact: string
}

/**
 * Of a run: 1 it stands, 2 it is skipped since an earlier run is unfinished, 0 it was not added; or
 * the id of an unfinished run for which it was refused.
 */
export type RunVerdict = 0 | 1 | 2 | string

/** Lets the last command of a MULTI decide about runs, oldest first. It replies with a RunVerdict for each. */
export function addVerdicts(
  tx: ChainableCommander,
  { prefix, queue, nowIso }: { prefix: string; queue: string; nowIso: string },
  { facts, runs }: { facts: readonly string[]; runs: readonly AddedRun[] },
): void {
  const base = bullKey(prefix, queue, '')
  const keys = [outboxKey(prefix, queue), lastTicksKey(prefix, queue), base]
  const companions = companionPrefix(prefix, queue)
  const about = [base, nowIso, facts.join('\n'), companions, cancelChannel(prefix, queue)]
  const args = runs.flatMap(({ id, owner, overlap, field, tickAtMs, dueAtMs, fact }) => [
    id,
    owner,
    overlap,
    field,
    tickAtMs,
    dueAtMs,
    fact,
  ])
  tx.eval(VERDICT_SCRIPT, keys.length, ...keys, ...about, ...args)
}

/**
 * The last command of a MULTI that fires. The messages were added before it in the same transaction,
 * so nobody can have touched them: a message that is not there was not added, and its tick is owed
 * still; of one that is, the schedule's overlap policy is applied to it here.
 */
const VERDICT_SCRIPT = `
-- Decides about the runs of a chunk of ticks, and writes their facts.
-- KEYS[1] outbox  KEYS[2] last-ticks  KEYS[3] any key of the queue's messages (names the slot)
-- ARGV[1] what stands before a message's id in its key  ARGV[2] now (ISO)
-- ARGV[3] facts that are certain already, one a line, or ''
-- ARGV[4] what stands before the names of the queue's companions  ARGV[5] the cancel channel
-- then for each tick, oldest first within a schedule:
--   run id, owner (of the unfinished set), overlap policy, field in last-ticks or '', tick (ms),
--   due (ms), the fact from after its state on
-- Returns for each tick 1 fired, 2 skipped since an earlier run is unfinished, 0 not added, or the id
-- of the unfinished run for which it was refused.
${OVERLAP}
local lines, verdicts, owed = {}, {}, {}
if ARGV[3] ~= '' then lines[1] = ARGV[3] end
local function flush()
  if #lines > 0 then redis.call('XADD', KEYS[1], '*', 'facts', table.concat(lines, '\\n')) end
  lines = {}
end
local at = { base = ARGV[1], companions = ARGV[4], channel = ARGV[5], now = ARGV[2] }
for i = 6, #ARGV, 7 do
  local id, field, tick, fact = ARGV[i], ARGV[i + 3], ARGV[i + 4], ARGV[i + 6]
  at.owner = ARGV[i + 1]
  if redis.call('EXISTS', at.base .. id) == 0 then
    verdicts[#verdicts + 1] = 0
    if field ~= '' and not owed[field] then
      owed[field] = true
      redis.call('HSET', KEYS[2], field, string.format('%.0f', tonumber(tick) - 1))
    end
  else
    local stands, replaced, living = overlap(at, ARGV[i + 2], { id = id, due = ARGV[i + 5], fact = fact })
    if replaced then lines[#lines + 1] = replaced end
    if stands then
      verdicts[#verdicts + 1] = 1
      lines[#lines + 1] = '{"kind":"run","revision":0,"state":"queued",' .. fact
    elseif ARGV[i + 2] == 'refuse' then
      verdicts[#verdicts + 1] = living
    else
      verdicts[#verdicts + 1] = 2
      lines[#lines + 1] = '{"kind":"run","revision":3,"state":"skipped","reason":"overlap","finished_at":"'
        .. at.now .. '",' .. fact
    end
  end
  if #lines >= 500 then flush() end
end
flush()
return verdicts
`
