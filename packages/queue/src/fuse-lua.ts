import { PARK_IN_LOT } from './lot-lua.ts'

/** How many runs one script call lets out of a lot. */
const AT_ONCE = 500
/** How many parts a fuse's window is counted in. */
const WINDOW_PARTS = 10
/** How long a run that was let out as a probe may wait for a worker before another is. */
const TAKEN_WITHIN_MS = 10_000
export const LOOK_EACH_MS = 1_000
/** As long as a lot is let out. */
const LOOK_AGAIN_MS = 20
/** How many changes wait to be told, while nobody can. */
const NEWS_KEPT = 1_000

/**
 * The fuse of a job, as Lua functions that several scripts share. A fuse is closed as long as it has no
 * hash, and counts how attempts end in its window; open until an instant; and then probing, step by
 * step: so many runs are let through, and how they end opens it again, or brings on the next step.
 *
 * A run is let through by its entry in `probes`: the token of its attempt; or `@` and an instant (ms) while
 * it was let out of the lot and waits for a worker. An attempt that no longer holds its message's lock
 * gives its place back: its worker died, or it was parked, put back or cancelled.
 */
export const FUSE = `${PARK_IN_LOT}
local changes = {}

local function readFuse(base, companions, text)
  local config, time = cjson.decode(text), redis.call('TIME')
  local fuse = {
    base = base, companions = companions, config = config, lot = 'fuse:' .. config.job,
    now = time[1] * 1000 + math.floor(time[2] / 1000),
    key = companions .. 'fuse:' .. config.job, window = companions .. 'fuse-window:' .. config.job,
    probes = companions .. 'fuse-probes:' .. config.job,
  }
  local kept = redis.call('HMGET', fuse.key, 'state', 'until', 'step', 'good', 'bad')
  fuse.state = kept[1] or 'closed'
  fuse.till, fuse.step = tonumber(kept[2] or 0), tonumber(kept[3] or 0)
  fuse.good, fuse.bad = tonumber(kept[4] or 0), tonumber(kept[5] or 0)
  -- A worker of another version may know more steps.
  if config.steps then fuse.step = math.min(fuse.step, #config.steps) end
  return fuse
end

-- An end that is farther off than any fuse stays open was set before Redis' clock was put back.
local function isOver(fuse)
  local openMs = fuse.config.openMs
  return fuse.now >= fuse.till or fuse.till - fuse.now > openMs[#openMs]
end

local function parked(fuse)
  return redis.call('LLEN', fuse.companions .. 'parked:' .. fuse.lot)
end

local function letOut(fuse, count)
  local ids = takeParked(fuse.base, fuse.companions, fuse.lot, count)
  closeLot(fuse.companions, fuse.lot)
  return ids
end

-- Of the changes that are told to everybody a list keeps what was not told yet.
local function tell(fuse, change)
  change.at, change.queue, change.job = fuse.now, fuse.config.queue, fuse.config.job
  local text = cjson.encode(change)
  changes[#changes + 1] = text
  if change.type == 'reopened' then return end
  local news = fuse.companions .. 'fuse-news'
  redis.call('RPUSH', news, text)
  redis.call('LTRIM', news, -${NEWS_KEPT}, -1)
  redis.call('PUBLISH', fuse.companions .. 'fuse', fuse.config.job)
end

local function openFuse(fuse, good, bad)
  local times = redis.call('HINCRBY', fuse.key, 'times', 1)
  local openMs = fuse.config.openMs[math.min(times, #fuse.config.openMs)]
  fuse.state, fuse.till = 'open', fuse.now + openMs
  redis.call('HSET', fuse.key, 'state', 'open', 'until', fuse.till, 'step', 0, 'good', 0, 'bad', 0, 'lookedAt', fuse.now)
  redis.call('HSETNX', fuse.key, 'openedAt', fuse.now)
  redis.call('DEL', fuse.window, fuse.probes)
  redis.call('SADD', fuse.companions .. 'fuses', fuse.config.job)
  local type = times == 1 and 'opened' or 'reopened'
  tell(fuse, { type = type, failed = bad, ended = good + bad, openUntil = fuse.till, times = times })
end

local function closeFuse(fuse)
  local openedAt = tonumber(redis.call('HGET', fuse.key, 'openedAt') or fuse.now)
  tell(fuse, { type = 'closed', openedAt = openedAt, parked = parked(fuse) })
  redis.call('DEL', fuse.key, fuse.window, fuse.probes)
  fuse.state = 'closed'
  letOut(fuse, ${AT_ONCE})
end

local function freePlaces(fuse)
  local quota = fuse.config.steps[fuse.step][1]
  return quota - fuse.good - fuse.bad - redis.call('HLEN', fuse.probes)
end

local function letProbesOut(fuse)
  local free = freePlaces(fuse)
  if free <= 0 then return end
  for _, id in ipairs(letOut(fuse, free)) do
    redis.call('HSET', fuse.probes, id, '@' .. string.format('%.0f', fuse.now))
  end
end

local function enterStep(fuse, step)
  fuse.state, fuse.step, fuse.good, fuse.bad = 'probing', step, 0, 0
  redis.call('HSET', fuse.key, 'state', 'probing', 'step', step, 'good', 0, 'bad', 0)
  letProbesOut(fuse)
end

-- What follows from how the runs of a step have ended so far. With none parked there is no storm to fear,
-- so one good end is enough.
local function settle(fuse)
  local steps, ended = fuse.config.steps, fuse.good + fuse.bad
  if fuse.bad >= steps[fuse.step][2] then return openFuse(fuse, fuse.good, fuse.bad) end
  local isDone, isLast = ended >= steps[fuse.step][1], not steps[fuse.step + 1]
  local isGood = ended > 0 and fuse.bad < fuse.config.failureRate * ended
  local isAlone = redis.call('HLEN', fuse.probes) == 0 and parked(fuse) == 0
  if (isDone and isLast) or (isGood and isAlone) then closeFuse(fuse)
  elseif isDone then enterStep(fuse, fuse.step + 1)
  else letProbesOut(fuse) end
end

local function probeEnded(fuse, id, token, sign)
  if redis.call('HGET', fuse.probes, id) ~= token then return end
  redis.call('HDEL', fuse.probes, id)
  if sign ~= '' then fuse[sign] = redis.call('HINCRBY', fuse.key, sign, 1) end
end

local function countInWindow(fuse, good, bad)
  local windowMs = fuse.config.windowMs
  local part = string.format('%.0f', fuse.now - fuse.now % math.ceil(windowMs / ${WINDOW_PARTS}))
  if good > 0 then redis.call('HINCRBY', fuse.window, part .. ':good', good) end
  if bad > 0 then redis.call('HINCRBY', fuse.window, part .. ':bad', bad) end
  redis.call('PEXPIRE', fuse.window, windowMs)
  local sums, counts = { good = 0, bad = 0 }, redis.call('HGETALL', fuse.window)
  for i = 1, #counts, 2 do
    local from, sign = string.match(counts[i], '^(%d+):(%a+)$')
    from = tonumber(from)
    if from <= fuse.now and from > fuse.now - windowMs then sums[sign] = sums[sign] + counts[i + 1]
    else redis.call('HDEL', fuse.window, counts[i]) end
  end
  local ended = sums.good + sums.bad
  if ended >= fuse.config.minAttempts and sums.bad >= fuse.config.failureRate * ended then
    openFuse(fuse, sums.good, sums.bad)
  end
end

-- Whether a run may be made; else it is to be parked.
local function letThrough(fuse, id, token)
  if fuse.state == 'open' and isOver(fuse) then enterStep(fuse, 1) end
  if fuse.state ~= 'probing' then return fuse.state == 'closed' end
  if redis.call('HEXISTS', fuse.probes, id) == 0 and freePlaces(fuse) <= 0 then return false end
  redis.call('HSET', fuse.probes, id, token)
  return true
end

local function dropLostProbes(fuse)
  local probes = redis.call('HGETALL', fuse.probes)
  for i = 1, #probes, 2 do
    local message, letOutAt = fuse.base .. probes[i], string.match(probes[i + 1], '^@(%d+)$')
    local isLost = redis.call('GET', message .. ':lock') ~= probes[i + 1]
    if letOutAt then
      isLost = math.abs(fuse.now - letOutAt) > ${TAKEN_WITHIN_MS} or redis.call('EXISTS', message) == 0
    end
    if isLost then redis.call('HDEL', fuse.probes, probes[i]) end
  end
end

-- What time brings: the end of an open fuse, places of lost probes, runs that are left in the lot.
local function lookAfter(fuse)
  if fuse.state == 'closed' then
    letOut(fuse, ${AT_ONCE})
    if parked(fuse) == 0 then redis.call('SREM', fuse.companions .. 'fuses', fuse.config.job) end
    return
  end
  redis.call('HSET', fuse.key, 'lookedAt', fuse.now)
  if fuse.state == 'open' and isOver(fuse) then enterStep(fuse, 1)
  elseif fuse.state == 'probing' then
    dropLostProbes(fuse)
    settle(fuse)
  end
end

local function nextLookMs(fuse)
  if fuse.state == 'open' then return math.max(1, math.min(${LOOK_EACH_MS}, fuse.till - fuse.now)) end
  if fuse.state == 'closed' and parked(fuse) > 0 then return ${LOOK_AGAIN_MS} end
  return ${LOOK_EACH_MS}
end
`
