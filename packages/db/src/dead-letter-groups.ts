import { sql } from 'kysely'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { Db } from './database.ts'
import { conditions, type DeadLetterFilters } from './dead-letters.ts'
import { type Page, pageLimit, type PageRequest } from './page.ts'

/** Dead letters that died of one cause and that nobody has settled. */
export interface DeadLetterGroup {
  /** Null for runs that were recorded without one. */
  fingerprint: string | null
  job: string
  queue: string
  error: string | null
  /** Of the example. */
  message: string | null
  count: number
  first_at: Date
  last_at: Date
  /** The run of them with the highest id. */
  example: string
}

/**
 * Groups of unsettled dead letters, largest first. Reads every dead run of the period through
 * runs_dead_idx. Throws BadCursorError.
 */
export async function listDeadLetterGroups(
  db: Db,
  filters: DeadLetterFilters,
  page: PageRequest,
): Promise<Page<DeadLetterGroup>> {
  const limit = pageLimit(page)
  const skip = page.cursor === undefined ? 0 : Number(decodeCursor(page.cursor, /^\d{1,9}$/))
  const rows = await db
    .with('g', (with_) =>
      with_
        .selectFrom('runs_all')
        .select(({ fn }) => [
          'queue',
          'job',
          'fingerprint',
          fn.countAll<number>().as('count'),
          fn.min('finished_at').as('first_at'),
          fn.max('finished_at').as('last_at'),
          sql<string>`max(id::text)::uuid`.as('example'),
        ])
        .where((eb) => eb.and(conditions(eb, { ...filters, settled: 'no' })))
        .groupBy(['queue', 'job', 'fingerprint'])
        .orderBy('count', 'desc')
        .orderBy('example', 'desc')
        .offset(skip)
        .limit(limit + 1),
    )
    .selectFrom('g')
    .innerJoin('runs_all as r', 'r.id', 'g.example')
    .select([
      'g.fingerprint',
      'g.job',
      'g.queue',
      sql<string | null>`r.error ->> 'name'`.as('error'),
      sql<string | null>`r.error ->> 'message'`.as('message'),
      'g.count',
      sql<Date>`g.first_at`.as('first_at'),
      sql<Date>`g.last_at`.as('last_at'),
      'g.example',
    ])
    .orderBy('g.count', 'desc')
    .orderBy('g.example', 'desc')
    .execute()
  return {
    items: rows.slice(0, limit),
    nextCursor: rows.length > limit ? encodeCursor(String(skip + limit)) : null,
  }
}
