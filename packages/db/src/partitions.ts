import type { Kysely } from 'kysely'
import type { Database } from './database.ts'

/** Makes the partitions of yesterday up to `daysAhead` days from `now`. Returns the names of those it made. */
export async function ensurePartitions(
  _db: Kysely<Database>,
  _options: { now: Date; daysAhead: number },
): Promise<string[]> {
  throw new Error('partitions')
}

/** Drops the days that ended more than `retentionDays` before `now`. Returns the names of what it dropped. */
export async function dropPartitions(
  _db: Kysely<Database>,
  _options: { now: Date; retentionDays: number },
): Promise<string[]> {
  throw new Error('partitions')
}
