import type { Kysely } from 'kysely'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { CalendarRow, Database } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/

/** The calendars by name. Served by calendars_pkey. Throws BadCursorError. */
export async function listCalendars(
  db: Kysely<Database>,
  page: PageRequest,
): Promise<Page<CalendarRow>> {
  const limit = pageLimit(page)
  let query = db
    .selectFrom('calendars')
    .selectAll()
    .orderBy('name')
    .limit(limit + 1)
  if (page.cursor !== undefined) query = query.where('name', '>', decodeCursor(page.cursor, NAME))
  return pageOf(await query.execute(), limit, (last) => encodeCursor(last.name))
}

/** Served by calendars_pkey. */
export async function findCalendar(
  db: Kysely<Database>,
  name: string,
): Promise<CalendarRow | undefined> {
  return db.selectFrom('calendars').selectAll().where('name', '=', name).executeTakeFirst()
}
