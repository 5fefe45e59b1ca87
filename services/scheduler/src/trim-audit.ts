import { type Db, deleteOldAudit, readClock } from '@jadwal/db'
import { HOUR } from '@jadwal/domain'
import type { RedisClock } from '@jadwal/queue'

/**
 * Deletes entries of the audit log that are older than `auditDays`, by the earlier of the clocks of Redis
 * and Postgres: a single one that runs ahead deletes nothing. Returns ms until the next time.
 */
export async function trimAudit({
  db,
  redisClock,
  auditDays,
}: {
  db: Db
  redisClock: Pick<RedisClock, 'nowMs'>
  auditDays: number
}): Promise<number> {
  const now = new Date(Math.min(redisClock.nowMs(), (await readClock(db)).getTime()))
  await deleteOldAudit(db, { now, days: auditDays })
  return HOUR
}
