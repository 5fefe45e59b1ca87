import { DAY, HOUR } from '@jadwal/domain'
import { type Db, dropPartitions, ensurePartitions } from '@jadwal/db'
import type { Logger } from '@jadwal/runtime'

const DAYS_AHEAD = 3

export interface KeepPartitionsDeps {
  db: Db
  log: Logger
  retentionDays: number
  now: () => Date
}

/** Makes the history's partitions ahead of time and drops those that are too old. Returns ms until the next time. */
export async function keepPartitions({
  db,
  log,
  retentionDays,
  now,
}: KeepPartitionsDeps): Promise<number> {
  const made = await ensurePartitions(db, { now: now(), daysAhead: DAYS_AHEAD })
  const dropped = await dropPartitions(db, { now: now(), retentionDays })
  if (made.length + dropped.length > 0)
    log.info({ made, dropped }, 'partitions of the history kept')
  const untilMidnightMs = DAY - (now().getTime() % DAY)
  return Math.min(HOUR, untilMidnightMs + 1)
}
