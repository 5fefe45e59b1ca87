import { DAY } from '@jadwal/domain'
import { sql } from 'kysely'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { Db } from './database.ts'
import { conditions, type DeadLetterFilters } from './dead-letters.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'
import { isRecordedBefore, readRecordedBefore, type RecordedBefore } from './recorded-before.ts'

/** How far back groups look, unless a period is given. */
const GROUPED_MS = 7 * DAY

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

/** A page of groups, and since when they were counted. */
export interface DeadLetterGroupPage extends Page<DeadLetterGroup> {
  from: Date
}

/**
 * Groups of unsettled dead letters, largest first; of a week without `from`. Reads every dead run of the
 * period through runs_dead_idx. Throws BadCursorError.
 *
 * All pages show what had been recorded when the first one was asked for: which letters there were, and
 * which of them were settled. So nothing moves between pages, although the order is the count.
 */
export async function listDeadLetterGroups(
  db: Db,
  filters: DeadLetterFilters,
  page: PageRequest,
): Promise<DeadLetterGroupPage> {
  const limit = pageLimit(page)
  const position = page.cursor === undefined ? undefined : decodePosition(page.cursor)
  const before = position?.before ?? (await readRecordedBefore(db))
  const to = filters.to ?? new Date(Number(before) / 1_000)
  const from = filters.from ?? new Date(to.getTime() - GROUPED_MS)
  const rows = await readGroups(db, { ...filters, from }, { before, after: position?.after, limit })
  const { items, nextCursor } = pageOf(rows, limit, (last) => encodePosition(before, last))
  return { items, nextCursor, from }
}

type GroupKey = Pick<DeadLetterGroup, 'count' | 'example'>

interface GroupWalk {
  before: RecordedBefore
  after: GroupKey | undefined
  limit: number
}

/** One more than the limit, if there are as many. */
async function readGroups(
  db: Db,
  filters: DeadLetterFilters,
  { before, after, limit }: GroupWalk,
): Promise<DeadLetterGroup[]> {
  const count = sql<number>`count(*)`
  const example = sql<string>`max(id::text)::uuid`
  return await db
    .with('g', (with_) => {
      const groups = with_
        .selectFrom('runs_all')
        .select(({ fn }) => [
          'queue',
          'job',
          'fingerprint',
          count.as('count'),
          fn.min('finished_at').as('first_at'),
          fn.max('finished_at').as('last_at'),
          example.as('example'),
        ])
        .where(isRecordedBefore('recorded_at', before))
        .where((eb) => eb.and(conditions(eb, { ...filters, settled: 'no', settledBefore: before })))
        .groupBy(['queue', 'job', 'fingerprint'])
        .orderBy('count', 'desc')
        .orderBy('example', 'desc')
        .limit(limit + 1)
      if (after === undefined) return groups
      return groups.having(
        sql<boolean>`(${count}, ${example}) < (${after.count}::bigint, ${after.example}::uuid)`,
      )
    })
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
}

/** Microseconds, a count and an id, as Postgres can have them. */
const POSITION = /^\d{1,16}\|\d{1,15}\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function encodePosition(before: RecordedBefore, { count, example }: GroupKey): string {
  return encodeCursor(`${before}|${count}|${example}`)
}

function decodePosition(cursor: string): { before: RecordedBefore; after: GroupKey } {
  const [before = '', count, example = ''] = decodeCursor(cursor, POSITION).split('|')
  return { before, after: { count: Number(count), example } }
}
