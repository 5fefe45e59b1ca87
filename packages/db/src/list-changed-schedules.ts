import type { Db } from './database.ts'

export interface ChangedSchedules {
  /** Of all schedules, calendars and pauses together. */
  revision: number
  /** Names, also of deleted schedules; `limit` at most. Empty when only something common to all changed. */
  names: string[]
}

/**
 * The schedules whose latest change is behind a revision, those that changed first before the others.
 * Served by schedules_revision_idx.
 */
export async function listChangedSchedules(
  db: Db,
  { after, limit }: { after: number; limit: number },
): Promise<ChangedSchedules> {
  // Read first: what changes meanwhile is told again rather than never.
  const { revision } = await db
    .selectFrom('schedule_revision')
    .select('revision')
    .executeTakeFirstOrThrow()
  if (revision === after) return { revision, names: [] }
  const rows = await db
    .selectFrom('schedules')
    .select('name')
    .where('revision', '>', after)
    .orderBy('revision')
    .orderBy('name')
    .limit(limit)
    .execute()
  return { revision, names: rows.map(({ name }) => name) }
}
