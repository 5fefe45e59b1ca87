import { keys } from '@jadwal/queue'
import type { Redis } from 'ioredis'
import { companionPrefix } from '../src/keys.ts'
import { CLOSE_LOT, PARK_IN_LOT, TAKE_PARKED } from '../src/lot-lua.ts'
import { untilTaken } from '../src/passing-refusal.ts'
import type { LotDeps, RunInHand } from '../src/run-in-hand.ts'

/** Lots without slots as a fuse has them, without a fuse: tests open and close them by hand. */

/*
 * Parks a run that is in hand. Its start counts as none, and a slot that it has goes to the next.
 *   KEYS[1] prefix of the message keys  KEYS[2] prefix of the queue's companions
 *   ARGV[1] id  ARGV[2] token  ARGV[3] lot
 *   Returns 1, also when it lies there already; 0 and nothing done when another has the run.
 */
const SCRIPT = `${PARK_IN_LOT}
return parkInLot(KEYS[1], KEYS[2], { id = ARGV[1], token = ARGV[2], lot = ARGV[3] }) and 1 or 0
`

/*
 * Lets parked runs of a lot without slots start.
 *   KEYS[1] prefix of the message keys  KEYS[2] prefix of the queue's companions
 *   ARGV[1] lot  ARGV[2] how many at most
 *   Returns how many.
 */
const RELEASE = `${TAKE_PARKED}${CLOSE_LOT}
local taken = #takeParked(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]))
closeLot(KEYS[2], ARGV[1])
return taken
`

const PARK_COMMAND = 'jadwalPark'
const RELEASE_COMMAND = 'jadwalReleaseParked'

/** So many runs go in one script, so that it stays short. */
const RELEASED_AT_ONCE = 500

type Scripted = Redis & {
  [PARK_COMMAND](...args: string[]): Promise<number>
  [RELEASE_COMMAND](...args: string[]): Promise<number>
}

/**
 * Puts a run that a worker has in hand into a lot without slots, until it is released. It uses up no
 * attempt. `lost` when another worker has the run by now. Either way the message is to be left alone.
 */
export async function parkRun(
  { redis, prefix, queue, onError }: LotDeps,
  { id, token }: RunInHand,
  lot: string,
): Promise<'in-lot' | 'lost'> {
  if (!(PARK_COMMAND in redis)) redis.defineCommand(PARK_COMMAND, { numberOfKeys: 2, lua: SCRIPT })
  const at = [keys.bullKey(prefix, queue, ''), companionPrefix(prefix, queue)]
  const parked = await untilTaken(() => (redis as Scripted)[PARK_COMMAND](...at, id, token, lot), {
    onError,
  })
  return parked === 1 ? 'in-lot' : 'lost'
}

/** Lets the first `count` runs of a lot without slots start, before all that wait. Returns how many there were. */
export async function releaseParked(
  redis: Redis,
  { prefix, queue }: { prefix: string; queue: string },
  { lot, count }: { lot: string; count: number },
): Promise<number> {
  if (!(RELEASE_COMMAND in redis))
    redis.defineCommand(RELEASE_COMMAND, { numberOfKeys: 2, lua: RELEASE })
  const at = [keys.bullKey(prefix, queue, ''), companionPrefix(prefix, queue)]
  let released = 0
  while (released < count) {
    const atOnce = Math.min(count - released, RELEASED_AT_ONCE)
    const some = await (redis as Scripted)[RELEASE_COMMAND](...at, lot, String(atOnce))
    released += some
    // None of a full batch: only runs that have gone lay in front.
    if (some === 0 && (await redis.exists(keys.parkedKey(prefix, queue, lot))) === 0) break
  }
  return released
}
