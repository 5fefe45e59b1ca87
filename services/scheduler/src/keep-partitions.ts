import {
  type Db,
  dropPartitions,
  ensurePartitions,
  listRetentions,
  noteRetentions,
  readClock,
} from '@jadwal/db'
import { DAY, HOUR } from '@jadwal/domain'
import type { RedisClock } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Catalogue } from './catalogue.ts'

const DAYS_AHEAD = 3

export interface KeepPartitionsDeps {
  db: Db
  redisClock: RedisClock
  log: Logger
  /** What the jobs say of how long their runs are kept. */
  catalogue: Catalogue
  retentionDays: number
}

/**
 * Makes the history's partitions ahead of time and drops those that are too old. What is dropped is
 * gone, so its age goes by the earlier of two clocks, that of Redis and that of Postgres: a single one
 * that runs ahead drops nothing. Returns ms until the next time.
 */
export async function keepPartitions(deps: KeepPartitionsDeps): Promise<number> {
  const { db, redisClock, log, catalogue, retentionDays } = deps
  const now = new Date(redisClock.nowMs())
  const earlier = new Date(Math.min(now.getTime(), (await readClock(db)).getTime()))
  const made = await ensurePartitions(db, { now, daysAhead: DAYS_AHEAD })
  await noteRetentions(db, catalogue.jobs(), earlier)
  const retentions = await listRetentions(db)
  const dropped = await dropPartitions(db, { now: earlier, retentionDays, retentions })
  if (made.length + dropped.length > 0)
    log.info({ made, dropped }, 'partitions of the history kept')
  return Math.min(HOUR, DAY - (now.getTime() % DAY) + 1)
}
