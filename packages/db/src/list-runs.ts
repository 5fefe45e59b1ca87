import { sql } from 'kysely'
import { decodeCursor, encodeCursor, UUID } from './cursor.ts'
import type { AttemptRow, Db, RunRow } from './database.ts'
import { listAttempts, type RecordedRun } from './find-run.ts'
import { onceMoreIfDropped } from './dropped-partition.ts'
import { type Page, pageLimit, type PageRequest } from './page.ts'
import type { Conditions, RunFilters } from './run-conditions.ts'
import { idRange, planSearch } from './run-filters.ts'
import { searchRuns } from './search-runs.ts'

/**
 * Runs by descending id, which is by time. Each filter has an index: job, queue, states, schedule,
 * parent, backfill, error and idempotency key one that ends in the id, so that it is read in order; the
 * matches in a day of late ticks, labels and words are read and sorted. Of several filters one leads (see
 * `planSearch`). A page may be short, with a cursor, where a search has come to the end of its time. Throws
 * BadCursorError.
 */
export async function listRuns(
  db: Db,
  filters: RunFilters,
  page: PageRequest,
): Promise<Page<RecordedRun>> {
  const limit = pageLimit(page)
  const after = page.cursor === undefined ? undefined : decodeCursor(page.cursor, UUID)
  const conditions = await lookUpSchedule(db, filters)
  if (conditions === undefined) return { items: [], nextCursor: null }
  const range = idRange(filters, after)
  const search = planSearch(conditions)
  const { ids, reachedId } = await onceMoreIfDropped(() =>
    searchRuns(db, search, { range, limit: limit + 1 }),
  )
  const shown = ids.slice(0, limit)
  const last = ids.length > limit ? shown.at(-1) : reachedId
  return {
    items: await readRuns(db, shown),
    nextCursor: last === undefined ? null : encodeCursor(last),
  }
}

/** The filters by id of the schedule; undefined when no schedule ever had the name. */
async function lookUpSchedule(db: Db, filters: RunFilters): Promise<Conditions | undefined> {
  const { schedule, from: _from, to: _to, ...conditions } = filters
  if (schedule === undefined) return conditions
  const row = await db
    .selectFrom('schedules')
    .select('id')
    .where('name', '=', schedule)
    .executeTakeFirst()
  return row && { ...conditions, scheduleId: row.id }
}

/** Runs by their ids, in this order, with their attempts. Served by the primary keys. */
async function readRuns(db: Db, ids: readonly string[]): Promise<RecordedRun[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('runs_all')
    .selectAll()
    .where(sql<boolean>`id = ANY (${ids}::uuid[])`)
    .execute()
  const byId = new Map<string, { run: RunRow; attempts: AttemptRow[] }>()
  for (const run of rows) {
    const other = byId.get(run.id)
    if (!other || other.run.revision < run.revision) byId.set(run.id, { run, attempts: [] })
  }
  for (const attempt of await listAttempts(db, ids))
    byId.get(attempt.run_id)?.attempts.push(attempt)
  return ids.flatMap((id) => byId.get(id) ?? [])
}
