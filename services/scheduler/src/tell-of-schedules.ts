import { type Db, listChangedSchedules } from '@jadwal/db'
import { SECOND } from '@jadwal/domain'
import { appendEvents, keys, type RedisClock } from '@jadwal/queue'
import type { Redis } from 'ioredis'

const EACH_MS = SECOND
/** Names in one event. */
const MOST_NAMES = 100

export interface TellOfSchedulesDeps {
  db: Db
  redis: Redis
  redisClock: RedisClock
  prefix: string
}

/**
 * Raises an event when schedules have changed in Postgres, by whomever, at least once: Redis remembers
 * up to which change it was told. Returns ms until the next time.
 */
export async function tellOfSchedules(deps: TellOfSchedulesDeps): Promise<number> {
  const { db, redis, redisClock, prefix } = deps
  const key = keys.toldRevisionKey(prefix)
  const told = await redis.get(key)
  const after = told === null ? undefined : Number(told)
  const page = { after: after ?? -1, limit: after === undefined ? 0 : MOST_NAMES + 1 }
  const { revision, names } = await listChangedSchedules(db, page)
  if (revision === after) return EACH_MS
  if (after !== undefined) {
    const isCut = names.length > MOST_NAMES
    const data = { schedules: names.slice(0, MOST_NAMES), ...(isCut ? { isCut } : {}) }
    const at = new Date(redisClock.nowMs()).toISOString()
    await appendEvents(redis, prefix, [{ type: 'schedule.changed', at, data }])
  }
  await redis.set(key, revision)
  return EACH_MS
}
