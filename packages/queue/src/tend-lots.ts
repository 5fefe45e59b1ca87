import { HOUR, SECOND } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { jobOfLot } from './key-slot.ts'
import { bullKey, companionPrefix, lotsCursorKey, lotsKey, lotsTendedKey } from './keys.ts'
import { FILL_SLOTS, SLOT_FIELD } from './lot-lua.ts'

/** One worker of all that serve a queue tends its lots, this often at most. */
const TENDED_EACH_MS = 5 * SECOND
/** So many lots at most in one go; the next one goes on behind them, whichever worker's it is. */
const MOST_LOTS = 1_000
const LOTS_AT_ONCE = 100
/** How long it is known where to go on. */
const CURSOR_MS = HOUR
/** So many runs go in one script, so that it stays short. */
const RELEASED_AT_ONCE = 500

/*
 * Puts one lot in order: takes slots from runs that have gone or have another, and lets parked runs
 * start where there is room. Of a lot without slots only ids of runs that have gone are taken off its head.
 *   KEYS[1] prefix of the message keys  KEYS[2] prefix of the queue's companions
 *   ARGV[1] lot  ARGV[2] how many slots it has, 'none' when its job limits nothing, or '' when unknown
 *   ARGV[3] how many runs to let start at most
 *   Returns how many were let start, and 1 when there may be more to do at once.
 */
const SCRIPT = `${FILL_SLOTS}
local base, companions, lot, most = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[3])
local parked, slots = companions .. 'parked:' .. lot, companions .. 'slots:' .. lot
local stored = redis.call('HGET', companions .. 'lots', lot)
if not stored then return { 0, 0 } end
if stored == '' then
  local passed = 0
  while passed < most do
    local id = redis.call('LINDEX', parked, 0)
    if not id or isParked(base, lot, id) then break end
    redis.call('LPOP', parked)
    passed = passed + 1
  end
  closeLot(companions, lot)
  return { 0, passed == most and 1 or 0 }
end
for _, id in ipairs(redis.call('SMEMBERS', slots)) do
  if redis.call('HGET', base .. id, '${SLOT_FIELD}') ~= lot then redis.call('SREM', slots, id) end
end
if ARGV[2] == 'none' then
  local taken, stopped = takeParked(base, companions, lot, most)
  if redis.call('EXISTS', parked) == 0 then redis.call('DEL', slots) end
  closeLot(companions, lot)
  return { #taken, (stopped or #taken == most) and 1 or 0 }
end
if ARGV[2] ~= '' then redis.call('HSET', companions .. 'lots', lot, ARGV[2]) end
local taken, stopped = fillSlots(base, companions, lot)
return { taken, stopped and 1 or 0 }
`

const COMMAND = 'jadwalTendLot'

type Scripted = Redis & { [COMMAND](...args: string[]): Promise<[number, 0 | 1]> }

export interface LotTenderDeps {
  redis: Redis
  prefix: string
  queue: string
  /** How many runs of a job with one key may run at once; `none` when it limits nothing; undefined when the job is not known here. */
  limitOf: (job: string) => number | 'none' | undefined
}

/**
 * The net under the slots of a queue. A slot is freed by the script that writes its run's end or takes
 * it out; what is left of runs whose messages were removed by hand or lost, and a limit that a new
 * version has raised or dropped, is put right here. A queue without lots costs one command a look.
 */
export class LotTender {
  readonly #deps: LotTenderDeps

  constructor(deps: LotTenderDeps) {
    this.#deps = deps
    const { redis } = deps
    if (!(COMMAND in redis)) redis.defineCommand(COMMAND, { numberOfKeys: 2, lua: SCRIPT })
  }

  /** Returns how many parked runs it let start. */
  async tend(): Promise<number> {
    const { redis, prefix, queue } = this.#deps
    if ((await redis.exists(lotsKey(prefix, queue))) === 0) return 0
    const mine = lotsTendedKey(prefix, queue)
    if ((await redis.set(mine, '1', 'PX', TENDED_EACH_MS, 'NX')) === null) return 0
    const position = lotsCursorKey(prefix, queue)
    let cursor = (await redis.get(position)) ?? '0'
    let looked = 0
    let released = 0
    do {
      const scan = await redis.hscan(lotsKey(prefix, queue), cursor, 'COUNT', LOTS_AT_ONCE)
      const lots = scan[1]
      cursor = scan[0]
      const names = lots.filter((_, at) => at % 2 === 0)
      for (const some of await Promise.all(names.map((lot) => this.tendLot(lot)))) released += some
      looked += names.length
    } while (cursor !== '0' && looked < MOST_LOTS)
    if (cursor === '0') await redis.del(position)
    else await redis.set(position, cursor, 'PX', CURSOR_MS)
    return released
  }

  /** Puts one lot in order. Returns how many parked runs it let start. */
  async tendLot(lot: string): Promise<number> {
    const { redis, prefix, queue, limitOf } = this.#deps
    const keys = [bullKey(prefix, queue, ''), companionPrefix(prefix, queue)]
    const job = jobOfLot(lot)
    const limit = job === undefined ? '' : String(limitOf(job) ?? '')
    const tendOnce = () =>
      (redis as Scripted)[COMMAND](...keys, lot, limit, String(RELEASED_AT_ONCE))
    let released = 0
    for (;;) {
      const [some, isMore] = await tendOnce()
      released += some
      if (isMore === 0) return released
    }
  }
}
