import { TAKE_BACK } from './take-back-lua.ts'
import { HELD_SCORE } from './unfinished-lua.ts'

/**
 * Lots and slots, as Lua functions that several scripts share. `base` stands before a message's id in
 * its key, `companions` before the rest of the name of the queue's other keys.
 *
 * A run that may not start yet is parked: its message lies in BullMQ's `delayed` with the score of held
 * runs, so that no clock starts it, and its id in the list of its lot. The message's field `jlot` names
 * the lot it lies in, `jslot` the lot whose slot it has. A list may have ids of runs that have gone
 * since, by a cancel or by hand; they are passed over when their turn comes.
 */

/** The field of a message's hash that names the lot it lies in. */
export const LOT_FIELD = 'jlot'
/** The field of a message's hash that names the lot whose slot the run has. */
export const SLOT_FIELD = 'jslot'

/** So many ids of runs that have gone are passed over in one go, so that a script stays short. */
const MOST_GONE = 1_000

/**
 * `takeParked(base, companions, lot, count)`: puts so many runs of a lot at the front of their queue,
 * those parked first first, and returns their ids, and whether it stopped early because so many had gone.
 * `isParked(base, lot, id)`: whether a run lies in it.
 */
export const TAKE_PARKED = `
local function isParked(base, lot, id)
  if redis.call('HGET', base .. id, '${LOT_FIELD}') ~= lot then return false end
  local score = redis.call('ZSCORE', base .. 'delayed', id)
  return score and tonumber(score) >= ${HELD_SCORE}
end

local function takeParked(base, companions, lot, count)
  local parked, taken, gone = companions .. 'parked:' .. lot, {}, 0
  while #taken < count and gone < ${MOST_GONE} do
    local id = redis.call('LPOP', parked)
    if not id then break end
    if isParked(base, lot, id) then
      redis.call('ZREM', base .. 'delayed', id)
      redis.call('HDEL', base .. id, '${LOT_FIELD}')
      taken[#taken + 1] = id
    else
      gone = gone + 1
    end
  end
  for at = #taken, 1, -1 do
    local priority = tonumber(redis.call('HGET', base .. taken[at], 'priority') or '0') or 0
    if priority > 0 then
      -- As BullMQ does with what it puts back: in front of all of its priority.
      redis.call('ZADD', base .. 'prioritized', string.format('%.0f', priority * 4294967296), taken[at])
    else
      redis.call('RPUSH', base .. 'wait', taken[at])
    end
  end
  if #taken > 0 and redis.call('HEXISTS', base .. 'meta', 'paused') == 0 then
    redis.call('ZADD', base .. 'marker', 0, '0')
  end
  return taken, gone == ${MOST_GONE}
end
`

/** `closeLot(companions, lot)`: forgets a lot in which nothing lies and of which nobody has a slot. */
export const CLOSE_LOT = `
local function closeLot(companions, lot)
  if redis.call('EXISTS', companions .. 'parked:' .. lot, companions .. 'slots:' .. lot) == 0 then
    redis.call('HDEL', companions .. 'lots', lot)
  end
end
`

/**
 * `fillSlots(base, companions, lot)`: lets as many parked runs of a key start as have room, and keeps
 * the slots for them. Returns how many there were, and whether it stopped early.
 */
export const FILL_SLOTS = `${TAKE_PARKED}${CLOSE_LOT}
local function fillSlots(base, companions, lot)
  local slots = companions .. 'slots:' .. lot
  local limit = tonumber(redis.call('HGET', companions .. 'lots', lot) or '')
  local taken, stopped = takeParked(base, companions, lot, (limit or 0) - redis.call('SCARD', slots))
  for _, id in ipairs(taken) do
    redis.call('SADD', slots, id)
    redis.call('HSET', base .. id, '${SLOT_FIELD}', lot)
  end
  closeLot(companions, lot)
  return #taken, stopped
end
`

/** `leaveSlot(base, companions, id)`: the run needs its slot no longer, if it has one: the next may start. */
export const LEAVE_SLOT = `${FILL_SLOTS}
local function leaveSlot(base, companions, id)
  local lot = redis.call('HGET', base .. id, '${SLOT_FIELD}')
  if not lot then return end
  redis.call('HDEL', base .. id, '${SLOT_FIELD}')
  redis.call('SREM', companions .. 'slots:' .. lot, id)
  fillSlots(base, companions, lot)
end
`

/** `park(base, companions, id, lot)`: parks a message that is in hand, and takes back what its start counted. */
export const PARK = `${TAKE_BACK}
local function park(base, companions, id, lot)
  takeBack(base, id)
  redis.call('HSET', base .. id, '${LOT_FIELD}', lot)
  redis.call('ZADD', base .. 'delayed', '${HELD_SCORE}', id)
  redis.call('RPUSH', companions .. 'parked:' .. lot, id)
end
`

/**
 * `parkInLot(base, companions, run)`: parks a run that is in hand (`run` has id, token, lot) in a lot
 * without slots; a slot that it has goes to the next. True, also when it lies there already; false and
 * nothing done when another has it by now.
 */
export const PARK_IN_LOT = `${LEAVE_SLOT}${PARK}
local function parkInLot(base, companions, run)
  if not isInHand(base, run.id, run.token) then return isParked(base, run.lot, run.id) end
  leaveSlot(base, companions, run.id)
  park(base, companions, run.id, run.lot)
  redis.call('HSET', companions .. 'lots', run.lot, '')
  return true
end
`
