import type { Redis } from 'ioredis'
import type { HeldLock } from './held-locks.ts'
import { alertsLeaseKey, bullKey, leaderKey, leaseFreeChannel, leaseKey, slotsKey } from './keys.ts'
import { SLOT_FIELD } from './lot-lua.ts'
import { LotTender } from './tend-lots.ts'

/*
 * Takes the lease from the leader of one term, and wakes the standbys.
 *   KEYS[1] lease  KEYS[2] leader  ARGV[1] term  ARGV[2] channel
 *   Returns 1, or 0 when another leads meanwhile or nobody does.
 */
const TAKE_LEASE = `
if redis.call('HGET', KEYS[2], 'term') ~= ARGV[1] then return 0 end
if redis.call('DEL', KEYS[1]) == 0 then return 0 end
redis.call('PUBLISH', ARGV[2], 'free')
return 1
`

/*
 * Takes the lease of the alerts from one holder.
 *   KEYS[1] lease  ARGV[1] its token  Returns 1, or 0 when another holds it meanwhile or nobody does.
 */
const TAKE_ALERTS = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`

/*
 * Takes a slot from a run that has gone or has another.
 *   KEYS[1] the run's message  KEYS[2] slots (SET)  ARGV[1] lot  ARGV[2] id of the run
 *   Returns 1; 0 when it has none; -1 when it lives and has it.
 */
const TAKE_SLOT = `
if redis.call('HGET', KEYS[1], '${SLOT_FIELD}') == ARGV[1] then return -1 end
return redis.call('SREM', KEYS[2], ARGV[2])
`

export type LockRelease =
  | 'released'
  /** It was given back, or went to another, since it was looked at. */
  | 'gone'
  /** Its holder lives and needs it. */
  | 'in-use'

/**
 * Takes a lock from its holder. None of them keeps the promises, so none of this can break one: a leader
 * whose lease is gone is stopped by the term that its successor writes into every hash that it watches,
 * and a slot is taken only from a run that has gone.
 */
export async function releaseLock(
  redis: Redis,
  prefix: string,
  lock: HeldLock,
): Promise<LockRelease> {
  switch (lock.kind) {
    case 'leader': {
      const keys = [leaseKey(prefix), leaderKey(prefix)]
      const args = [String(lock.term), leaseFreeChannel(prefix)]
      const taken = await redis.eval(TAKE_LEASE, keys.length, ...keys, ...args)
      return taken === 1 ? 'released' : 'gone'
    }
    case 'alerts': {
      const taken = await redis.eval(TAKE_ALERTS, 1, alertsLeaseKey(prefix), lock.holder)
      return taken === 1 ? 'released' : 'gone'
    }
    case 'slot': {
      const { queue, lot, holder } = lock
      if (!lock.stale || queue === undefined || lot === undefined) return 'in-use'
      const keys = [bullKey(prefix, queue, holder), slotsKey(prefix, queue, lot)]
      const taken = await redis.eval(TAKE_SLOT, keys.length, ...keys, lot, holder)
      if (taken !== 1) return taken === 0 ? 'gone' : 'in-use'
      // Who waits for it is let start.
      await new LotTender({ redis, prefix, queue, limitOf: () => undefined }).tendLot(lot)
      return 'released'
    }
    case 'attempt':
      return 'in-use'
  }
}
