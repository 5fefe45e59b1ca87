import { MINUTE, SECOND } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { bullKey } from './keys.ts'
import { TAKE_BACK } from './take-back-lua.ts'
import { RUNS_WHEN_FULL } from './when-full.ts'

/*
 * Puts a message that is in hand back until a time, as if it had never been taken.
 *   KEYS[1] prefix of the message keys   ARGV[1] id  ARGV[2] token  ARGV[3] when it is to be looked at again (ms)
 *   Returns 1; 0 and nothing done when another worker has it.
 */
const SCRIPT = `${RUNS_WHEN_FULL}${TAKE_BACK}
if not isInHand(KEYS[1], ARGV[1], ARGV[2]) then return 0 end
takeBack(KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1] .. 'delayed', string.format('%.0f', ARGV[3] * 4096), ARGV[1])
local first = redis.call('ZRANGE', KEYS[1] .. 'delayed', 0, 0, 'WITHSCORES')
redis.call('ZADD', KEYS[1] .. 'marker', math.floor(first[2] / 4096), '1')
return 1
`

const COMMAND = 'jadwalLeaveAlone'

type Scripted = Redis & { [COMMAND](...args: string[]): Promise<number> }

/**
 * Leaves a message that a worker can't read as it is, for one that can, and lets somebody look at it
 * again after a while. Its start counts as none. Does nothing when another worker has it by now.
 */
export async function leaveAlone(
  redis: Redis,
  { prefix, queue }: { prefix: string; queue: string },
  message: { id: string; token: string; untilMs: number },
): Promise<void> {
  redis.defineCommand(COMMAND, { numberOfKeys: 1, lua: SCRIPT })
  const { id, token, untilMs } = message
  await (redis as Scripted)[COMMAND](bullKey(prefix, queue, ''), id, token, String(untilMs))
}

/**
 * How long to leave a message alone that could have been read since so many ms: a fraction of it, so
 * that a new worker finds it soon while versions change, and one that nobody comes for costs little.
 */
export function leaveAloneMs(waitedMs: number): number {
  // Of a message whose form is not known its times may be none.
  const part = waitedMs > 0 ? waitedMs / 4 : 0
  return Math.round(Math.min(MINUTE, Math.max(SECOND, part)))
}
