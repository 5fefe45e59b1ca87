import { type Kysely, sql } from 'kysely'
import { contentReader, type HashedContent } from './calendar-revisions.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { Database } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'
import type { VersionContent } from './version-content.ts'

/** The largest integer of Postgres. */
const LAST = 2 ** 31 - 1

/** What a schedule said over a time, and what the version before had said. */
export interface RecordedVersion {
  version: number
  author: string
  reason: string | null
  from_at: Date
  until_at: Date | null
  deleted_by: string | null
  deleted_reason: string | null
  content: VersionContent
  /** Null of the first one. */
  before: VersionContent | null
}

type StoredVersion = Omit<RecordedVersion, 'content' | 'before'> & {
  content: HashedContent
  before: HashedContent | null
}

/**
 * The versions of a schedule, also of a deleted one, latest first; undefined when there never was one
 * of the name. Served by schedule_versions_pkey. Throws BadCursorError.
 */
export async function listVersions(
  db: Kysely<Database>,
  name: string,
  page: PageRequest,
): Promise<Page<RecordedVersion> | undefined> {
  const limit = pageLimit(page)
  const before = page.cursor === undefined ? LAST : Number(decodeCursor(page.cursor, /^\d{1,9}$/))
  const schedule = await db
    .selectFrom('schedules')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst()
  if (!schedule) return undefined
  const { rows } = await sql<StoredVersion>`
    SELECT v.version, v.author, v.reason, v.from_at, v.until_at, v.deleted_by, v.deleted_reason,
      jsonb_build_object('spec', v.spec, 'calendars', v.calendars) AS content,
      CASE WHEN b.version IS NOT NULL
        THEN jsonb_build_object('spec', b.spec, 'calendars', b.calendars) END AS before
    FROM ${sql.table('schedule_versions')} v
    LEFT JOIN ${sql.table('schedule_versions')} b
      ON b.schedule_id = v.schedule_id AND b.version = v.version - 1
    WHERE v.schedule_id = ${schedule.id} AND v.version < ${before}
    ORDER BY v.version DESC LIMIT ${limit + 1}`.execute(db)
  const contentOf = await contentReader(
    db,
    rows.flatMap(({ content, before: last }) => (last ? [content, last] : [content])),
  )
  const { items, nextCursor } = pageOf(rows, limit, (last) => encodeCursor(String(last.version)))
  const versions = items.map((row) => {
    const { content, before: last } = row
    return Object.assign(row, { content: contentOf(content), before: last && contentOf(last) })
  })
  return { items: versions, nextCursor }
}

/** What a schedule said in a version. */
export async function findVersion(
  db: Kysely<Database>,
  name: string,
  version: number,
): Promise<{ spec: Record<string, unknown>; isDeleted: boolean } | undefined> {
  const row = await db
    .selectFrom('schedules as s')
    .innerJoin('schedule_versions as v', 'v.schedule_id', 's.id')
    .select(['v.spec', 's.deleted_at'])
    .where('s.name', '=', name)
    .where('v.version', '=', version)
    .executeTakeFirst()
  return row && { spec: row.spec, isDeleted: row.deleted_at !== null }
}
