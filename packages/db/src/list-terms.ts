import type { Kysely } from 'kysely'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { Database, LeaderTermRow } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

/** The leaders' terms, latest first. Served by leader_terms_pkey. Throws BadCursorError. */
export async function listTerms(
  db: Kysely<Database>,
  page: PageRequest,
): Promise<Page<LeaderTermRow>> {
  const limit = pageLimit(page)
  let query = db
    .selectFrom('leader_terms')
    .selectAll()
    .orderBy('term', 'desc')
    .limit(limit + 1)
  if (page.cursor !== undefined)
    query = query.where('term', '<', Number(decodeCursor(page.cursor, /^\d{1,15}$/)))
  return pageOf(await query.execute(), limit, (last) => encodeCursor(String(last.term)))
}
