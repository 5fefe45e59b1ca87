import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Admission } from './admission.ts'
import { bullKey, companionPrefix } from './keys.ts'
import { LEAVE_SLOT, PARK, SLOT_FIELD } from './lot-lua.ts'
import type { LotDeps, RunInHand } from './run-in-hand.ts'
import { untilTaken } from './passing-refusal.ts'
import { RUNS_WHEN_FULL } from './when-full.ts'

/** Keys longer than this are told apart by their hash. */
const LONGEST_KEY = 100

/** The lot of a job's runs with one key. `isSecret` keeps a key that has a secret in it out of Redis. */
export function keyLot(job: string, key: string, isSecret = false): string {
  if (!isSecret && key.length <= LONGEST_KEY) return `key:${job}:=${key}`
  return `key:${job}:#${createHash('sha256').update(key).digest('base64url')}`
}

/** The job that a key's lot is of; undefined for a lot of another kind. */
export function jobOfLot(lot: string): string | undefined {
  return /^key:([^:]+):/.exec(lot)?.[1]
}

/*
 * Takes a slot for a run that is in hand, or parks it when there is none left. Who is parked goes first.
 *   KEYS[1] prefix of the message keys  KEYS[2] prefix of the queue's companions
 *   ARGV[1] id  ARGV[2] token  ARGV[3] lot  ARGV[4] how many slots it has
 *   Returns 1 with a slot, 2 parked; 0 and nothing done when another has the run.
 */
const SCRIPT = `${RUNS_WHEN_FULL}${LEAVE_SLOT}${PARK}
local id, lot, limit = ARGV[1], ARGV[3], tonumber(ARGV[4])
if not isInHand(KEYS[1], id, ARGV[2]) then return isParked(KEYS[1], lot, id) and 2 or 0 end
local slots, message = KEYS[2] .. 'slots:' .. lot, KEYS[1] .. id
if redis.call('HGET', message, '${SLOT_FIELD}') ~= lot then leaveSlot(KEYS[1], KEYS[2], id) end
if redis.call('HGET', KEYS[2] .. 'lots', lot) ~= ARGV[4] then
  redis.call('HSET', KEYS[2] .. 'lots', lot, ARGV[4])
end
if redis.call('SISMEMBER', slots, id) == 1 then return 1 end
if redis.call('EXISTS', KEYS[2] .. 'parked:' .. lot) == 1 then
  fillSlots(KEYS[1], KEYS[2], lot)
  redis.call('HSET', KEYS[2] .. 'lots', lot, ARGV[4])
end
if redis.call('SCARD', slots) < limit and redis.call('EXISTS', KEYS[2] .. 'parked:' .. lot) == 0 then
  redis.call('SADD', slots, id)
  redis.call('HSET', message, '${SLOT_FIELD}', lot)
  return 1
end
park(KEYS[1], KEYS[2], id, lot)
return 2
`

const COMMAND = 'jadwalTakeSlot'

type Scripted = Redis & { [COMMAND](...args: string[]): Promise<number> }

/**
 * Takes one of a lot's slots for a run that a worker has in hand, before its handler is called. With
 * `in-lot` none was left: the run lies parked, uses up no attempt, and is put at the front of its queue
 * when it is its turn. The run keeps its slot until its outcome is written, also when its worker dies meanwhile.
 */
export async function takeSlot(
  { redis, prefix, queue, onError, stop }: LotDeps,
  { id, token }: RunInHand,
  { lot, limit }: { lot: string; limit: number },
): Promise<Admission> {
  if (!(COMMAND in redis)) redis.defineCommand(COMMAND, { numberOfKeys: 2, lua: SCRIPT })
  const keys = [bullKey(prefix, queue, ''), companionPrefix(prefix, queue)]
  const taken = await untilTaken(
    () => (redis as Scripted)[COMMAND](...keys, id, token, lot, String(limit)),
    { onError, stop },
  )
  if (taken === undefined) return 'drained'
  return taken === 1 ? 'go' : taken === 2 ? 'in-lot' : 'lost'
}
