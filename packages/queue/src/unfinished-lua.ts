import { TELL_END } from './follow-lua.ts'

/**
 * What a schedule's runs have to do with each other while they are unfinished, as Lua functions that
 * several scripts share. `base` stands before a message's id in its key, `companions` before the rest
 * of the name of the queue's other keys, `owner` is the uuid of the schedule.
 *
 * A held run lies in BullMQ's `delayed` with a score that no clock reaches, so that no worker can
 * start it, until the last unfinished run of its schedule but itself has ended.
 */

/** Beyond every delay that can be asked for; BullMQ's scores (ms * 4096) are exact up to here. */
export const HELD_SCORE = 2 ** 53 - 1

/** Whether a score of BullMQ's `delayed` says that the run is held. */
export function isHeldScore(score: string | number): boolean {
  return Number(score) >= HELD_SCORE
}

/** `takeOut(base, id)`: takes a message that waits out of its list. 1; or 0 when it does not wait. */
export const TAKE_OUT = `
local function takeOut(base, id)
  if redis.call('ZREM', base .. 'delayed', id) == 1 then return 1 end
  if redis.call('ZREM', base .. 'prioritized', id) == 1 then return 1 end
  if redis.call('EXISTS', base .. id .. ':lock') == 1 then return 0 end
  return redis.call('LREM', base .. 'wait', 1, id)
end
`

/** `release(base, held)`: lets the held run of the key `held` start when it is due. */
const RELEASE = `
local function release(base, held)
  local run = redis.call('HMGET', held, 'id', 'due')
  redis.call('DEL', held)
  if redis.call('ZADD', base .. 'delayed', 'XX', 'CH', string.format('%.0f', run[2] * 4096), run[1]) == 0 then return end
  local first = redis.call('ZRANGE', base .. 'delayed', 0, 0, 'WITHSCORES')
  redis.call('ZADD', base .. 'marker', math.floor(first[2] / 4096), '1')
end
`

/** `leaveSchedule(base, companions, owner, id)`: the run has ended; the one that waits for that may start. */
export const LEAVE_SCHEDULE = `${RELEASE}
local function leaveSchedule(base, companions, owner, id)
  local unfinished, held = companions .. 'unfinished:' .. owner, companions .. 'held:' .. owner
  redis.call('SREM', unfinished, id)
  local waiting = redis.call('HGET', held, 'id')
  if not waiting then return end
  if waiting == id then redis.call('DEL', held) return end
  for _, other in ipairs(redis.call('SMEMBERS', unfinished)) do
    if other ~= waiting then
      if redis.call('EXISTS', base .. other) == 1 then return end
      redis.call('SREM', unfinished, other)
    end
  end
  release(base, held)
end
`

/**
 * `overlap(at, policy, run)`: decides about the message of a run that was just added. `at` has base,
 * companions, owner, now (ISO), channel; `run` has id, due (ms), fact. Returns whether the run stands,
 * and the fact of a run that it replaced, or nil. One that does not stand has lost its message; then the
 * third is the id of a run that is unfinished.
 */
export const OVERLAP = `${TAKE_OUT}${RELEASE}${TELL_END}
local function anyLiving(base, unfinished)
  while true do
    local id = redis.call('SRANDMEMBER', unfinished)
    if not id then return nil end
    if redis.call('EXISTS', base .. id) == 1 then return id end
    redis.call('SREM', unfinished, id)
  end
end

local function supersedeHeld(at)
  local key = at.companions .. 'held:' .. at.owner
  local held = redis.call('HMGET', key, 'id', 'fact')
  if not held[1] then return nil end
  redis.call('DEL', key)
  -- Somebody may have started it by hand.
  if takeOut(at.base, held[1]) == 0 then return nil end
  redis.call('SREM', at.companions .. 'unfinished:' .. at.owner, held[1])
  redis.call('DEL', at.base .. held[1])
  local fact = '{"kind":"run","revision":3,"state":"cancelled","reason":"superseded","finished_at":"'
    .. at.now .. '",' .. held[2]
  tellEnd(at.companions, held[1], fact)
  return fact
end

local function cancelOthers(at, unfinished)
  for _, id in ipairs(redis.call('SMEMBERS', unfinished)) do
    if redis.call('EXISTS', at.base .. id) == 0 then redis.call('SREM', unfinished, id)
    else
      redis.call('HSETNX', at.companions .. 'cancels', id, 'superseded')
      redis.call('PUBLISH', at.channel, id .. ' superseded')
    end
  end
end

local function overlap(at, policy, run)
  local unfinished = at.companions .. 'unfinished:' .. at.owner
  local replaced, held = nil, at.companions .. 'held:' .. at.owner
  -- One that was fired before, and is fired again since Redis lost some time, stands as it is.
  if redis.call('SADD', unfinished, run.id) == 0 then return true, nil end
  if policy == 'allow' then
    -- What was held under another policy need not wait for more and more to end.
    if redis.call('EXISTS', held) == 1 then release(at.base, held) end
    return true, nil
  end
  redis.call('SREM', unfinished, run.id)
  if policy == 'skip' or policy == 'refuse' then
    local living = anyLiving(at.base, unfinished)
    if living then
      takeOut(at.base, run.id)
      redis.call('DEL', at.base .. run.id)
      return false, nil, living
    end
  else
    replaced = supersedeHeld(at)
    if policy == 'cancel-running' then cancelOthers(at, unfinished) end
    if anyLiving(at.base, unfinished) and takeOut(at.base, run.id) == 1 then
      redis.call('ZADD', at.base .. 'delayed', '${HELD_SCORE}', run.id)
      redis.call('HSET', held, 'id', run.id, 'due', run.due, 'fact', run.fact)
    end
  end
  redis.call('SADD', unfinished, run.id)
  return true, replaced
end
`
