import type { Kysely } from 'kysely'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { Database, ScheduleSource } from './database.ts'
import { type Page, pageLimit, type PageRequest } from './page.ts'

export interface ScheduleInForce {
  id: string
  name: string
  source: ScheduleSource
  /** Who wrote the version in force. */
  author: string
  version: number
  /** As written, with the file's defaults filled in. */
  spec: Record<string, unknown>
  created_at: Date
  changed_at: Date
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/

/**
 * The schedules that are not deleted, by name, each with its version in force. Served by
 * schedules_name_is_unique. Throws BadCursorError.
 */
export async function listSchedules(
  db: Kysely<Database>,
  page: PageRequest,
): Promise<Page<ScheduleInForce>> {
  const limit = pageLimit(page)
  let query = selectInForce(db)
    .orderBy('s.name')
    .limit(limit + 1)
  if (page.cursor !== undefined) query = query.where('s.name', '>', decodeCursor(page.cursor, NAME))
  const rows = await query.execute()
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: last && rows.length > limit ? encodeCursor(last.name) : null }
}

/** One schedule that is not deleted. Served by schedules_name_is_unique. */
export async function findSchedule(
  db: Kysely<Database>,
  name: string,
): Promise<ScheduleInForce | undefined> {
  return selectInForce(db).where('s.name', '=', name).executeTakeFirst()
}

function selectInForce(db: Kysely<Database>) {
  return db
    .selectFrom('schedules as s')
    .innerJoin('schedule_versions as v', 'v.schedule_id', 's.id')
    .select([
      's.id',
      's.name',
      's.source',
      'v.author',
      'v.version',
      'v.spec',
      's.created_at',
      's.changed_at',
    ])
    .where('v.until_at', 'is', null)
    .where('s.deleted_at', 'is', null)
}
