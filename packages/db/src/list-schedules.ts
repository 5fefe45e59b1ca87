import { type Kysely, sql, type SqlBool } from 'kysely'
import { contentReader } from './calendar-revisions.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { Database, ScheduleSource } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

export interface ScheduleInForce {
  id: string
  name: string
  source: ScheduleSource
  /** Who wrote the version in force. */
  author: string
  version: number
  /** As written, with the file's defaults filled in. */
  spec: Record<string, unknown>
  /** The calendars that the spec names. */
  calendars: Record<string, unknown>
  /** When the version in force began. */
  from_at: Date
  created_at: Date
  changed_at: Date
}

export interface ScheduleFilters {
  job?: string
  source?: ScheduleSource
  /** A schedule has all of these. */
  labels?: Record<string, string>
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/

/**
 * The schedules that are not deleted, by name, each with its version in force. Served by
 * schedules_name_is_unique. Throws BadCursorError.
 */
export async function listSchedules(
  db: Kysely<Database>,
  page: PageRequest,
  { job, source, labels }: ScheduleFilters = {},
): Promise<Page<ScheduleInForce>> {
  const limit = pageLimit(page)
  let query = selectInForce(db)
    .orderBy('s.name')
    .limit(limit + 1)
  if (page.cursor !== undefined) query = query.where('s.name', '>', decodeCursor(page.cursor, NAME))
  if (job !== undefined) query = query.where(sql<SqlBool>`v.spec ->> 'job' = ${job}`)
  if (source !== undefined) query = query.where('s.source', '=', source)
  if (labels !== undefined)
    query = query.where(sql<SqlBool>`v.spec -> 'labels' @> ${JSON.stringify(labels)}::jsonb`)
  const rows = await query.execute()
  const contentOf = await contentReader(db, rows)
  const { items, nextCursor } = pageOf(rows, limit, (last) => encodeCursor(last.name))
  return { items: items.map((row) => Object.assign(row, contentOf(row))), nextCursor }
}

/** One schedule that is not deleted. Served by schedules_name_is_unique. */
export async function findSchedule(
  db: Kysely<Database>,
  name: string,
): Promise<ScheduleInForce | undefined> {
  const row = await selectInForce(db).where('s.name', '=', name).executeTakeFirst()
  return row && Object.assign(row, (await contentReader(db, [row]))(row))
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
      'v.calendars',
      'v.from_at',
      's.created_at',
      's.changed_at',
    ])
    .where('v.until_at', 'is', null)
    .where('s.deleted_at', 'is', null)
}
