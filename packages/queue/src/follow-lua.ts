/** How long a run counts as followed after somebody last said so: whoever follows says so every few seconds. */
export const FOLLOWED_MS = 10 * 60_000
/** How long the end of a followed run is kept for those who follow it. */
const TOLD_MS = 10 * 60_000

/**
 * Lua: `follow(companions, now, ms, id)` has the end of a run told. `now` is of Redis' clock. The key lives as long
 * as the last of its entries, so that nobody who went away is remembered.
 */
export const FOLLOW = `
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function follow(companions, now, ms, id)
  local followed = companions .. 'followed'
  redis.call('ZADD', followed, 'GT', string.format('%.0f', now + ms), id)
  if redis.call('PTTL', followed) < ms then redis.call('PEXPIRE', followed, ms) end
end
`

/**
 * Lua: `tellEnd(companions, id, fact)` tells whoever follows a run that it has ended: keeps its last fact
 * for a while and publishes its id. What comes behind a tab in a fact is its payload, which they know, and
 * which may be large or have what only its worker should read.
 */
export const TELL_END = `
local function tellEnd(companions, id, fact)
  if redis.call('ZREM', companions .. 'followed', id) == 0 then return end
  local payload = string.find(fact, ',\\t', 1, true)
  if payload then fact = string.sub(fact, 1, payload) .. '"payload":null}' end
  redis.call('SET', companions .. 'ended:' .. id, fact, 'PX', ${TOLD_MS})
  redis.call('PUBLISH', companions .. 'ended', id)
end
`
