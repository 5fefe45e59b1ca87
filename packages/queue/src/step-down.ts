import type { Redis } from 'ioredis'
import { leaderKey, stepDownChannel, stepDownKey } from './keys.ts'

/** Whoever asked for it first is taken for who did it, until nobody heard of them for so long. */
const ASKING_MS = 2_000

/*
 * Asks the leader of a term to end it.
 *   KEYS[1] leader (HASH)  KEYS[2] who asks (STRING)  ARGV[1] term  ARGV[2] channel  ARGV[3] who asks  ARGV[4] ms
 *   Returns 1; 0 when somebody else had asked for the end of this term before; -1 when it has ended.
 */
const ASK = `
local leader = redis.call('HMGET', KEYS[1], 'term', 'ended')
if leader[1] ~= ARGV[1] or leader[2] then return -1 end
redis.call('PUBLISH', ARGV[2], ARGV[1])
local mine = ARGV[1] .. ' ' .. ARGV[3]
if redis.call('SET', KEYS[2], mine, 'NX', 'PX', ARGV[4]) then return 1 end
local asking = redis.call('GET', KEYS[2])
if asking ~= mine and string.find(asking, ARGV[1] .. ' ', 1, true) == 1 then return 0 end
redis.call('SET', KEYS[2], mine, 'PX', ARGV[4])
return 1
`

/**
 * Asks the leader to end its term. It may miss the message: ask again until another one leads. `asked`
 * when its end is due to this, `asked-before` to somebody else, `ended` when that term is over.
 */
export async function askToStepDown(
  redis: Redis,
  prefix: string,
  { term, by }: { term: number; by: string },
): Promise<'asked' | 'asked-before' | 'ended'> {
  const keys = [leaderKey(prefix), stepDownKey(prefix)]
  const args = [String(term), stepDownChannel(prefix), by, ASKING_MS]
  const said = await redis.eval(ASK, keys.length, ...keys, ...args)
  if (said === -1) return 'ended'
  return said === 1 ? 'asked' : 'asked-before'
}
