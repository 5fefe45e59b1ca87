import type { Redis } from 'ioredis'
import { FOLLOW, FOLLOWED_MS } from './follow-lua.ts'
import { bullKey, companionPrefix, followedKey } from './keys.ts'
import { OUTCOME_FIELD } from './outcome-record.ts'

/** Runs looked at in one call. */
const AT_ONCE = 500

/*
 * Looks at runs of a queue, and has the end of those that go on told.
 *   KEYS[1] followed (ZSET)
 *   ARGV[1] what stands before a message's id in its key  ARGV[2] before the names of the queue's companions
 *   ARGV    ids
 *   Returns for each run its last fact as JSON when its end was told, 1 when it goes on, 0 when it has ended
 *   without being followed, or never was in this queue.
 */
const LOOK = `${FOLLOW}
local now, results = nowMs(), {}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
for i = 3, #ARGV do
  local id = ARGV[i]
  local ended = redis.call('GET', ARGV[2] .. 'ended:' .. id)
  if not ended then
    local message = redis.call('HMGET', ARGV[1] .. id, 'name', '${OUTCOME_FIELD}')
    local kind = string.match(message[2] or '', '^%d+:(%a+)')
    ended = 0
    if message[1] and kind ~= 'succeeded' and kind ~= 'dead' and kind ~= 'cancelled' then
      follow(ARGV[2], now, ${FOLLOWED_MS}, id)
      ended = 1
    end
  end
  results[#results + 1] = ended
end
return results
`

const COMMAND = 'jadwalLookAtRuns'

type Scripted = Redis & { [COMMAND](...args: string[]): Promise<(string | 0 | 1)[]> }

/** Looks at runs of a queue: the last fact of each whose end was told, 1 for one that goes on, else 0. */
export async function lookAtRuns(
  redis: Redis,
  { prefix, queue }: { prefix: string; queue: string },
  ids: readonly string[],
): Promise<(string | 0 | 1)[]> {
  redis.defineCommand(COMMAND, { numberOfKeys: 1, lua: LOOK })
  const about = [
    followedKey(prefix, queue),
    bullKey(prefix, queue, ''),
    companionPrefix(prefix, queue),
  ]
  const seen: (string | 0 | 1)[] = []
  for (let from = 0; from < ids.length; from += AT_ONCE)
    seen.push(...(await (redis as Scripted)[COMMAND](...about, ...ids.slice(from, from + AT_ONCE))))
  return seen
}
