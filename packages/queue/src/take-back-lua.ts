/**
 * `isInHand(base, id, token)`: whether the message's lock holds the attempt's token.
 * `takeBack(base, id)`: takes a message that is in hand out of hand, with all that its start counted: it
 * was never begun. Whoever calls it puts the message where it belongs.
 */
export const TAKE_BACK = `
local function isInHand(base, id, token)
  return redis.call('GET', base .. id .. ':lock') == token
end

local function takeBack(base, id)
  local message = base .. id
  redis.call('LREM', base .. 'active', 1, id)
  redis.call('DEL', message .. ':lock')
  redis.call('SREM', base .. 'stalled', id)
  redis.call('HINCRBY', message, 'ats', -1)
  redis.call('HDEL', message, 'processedOn', 'pb')
  -- The rate's window may be a later one than that of the start by now.
  if tonumber(redis.call('GET', base .. 'limiter') or '0') > 0 then redis.call('DECR', base .. 'limiter') end
end
`
