import { firstUuidAt, type RunState } from '@jadwal/domain'
import { type Expression, type ExpressionBuilder, type Kysely, sql, type SqlBool } from 'kysely'
import { decodeCursor, encodeCursor, UUID } from './cursor.ts'
import type { AttemptRow, Database, RunRow } from './database.ts'
import { listAttempts, type RecordedRun } from './find-run.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

export interface RunFilters {
  job?: string
  queue?: string
  state?: RunState
  /** Name of a schedule. */
  schedule?: string
  /** The run whose handler enqueued them. */
  parent?: string
  /** A run has all of these. */
  labels?: Record<string, string>
  /** By the time in the run's id: when it was enqueued, or its tick. From, inclusive. */
  from?: Date
  /** To, exclusive. */
  to?: Date
  /** A run's id, a job's name, or words that its error has all of. */
  q?: string
}

/**
 * Runs by descending id, which is by time. Each filter has an index that ends in the id
 * (runs_job_idx, runs_queue_idx, runs_state_idx, runs_schedule_idx, runs_parent_idx; labels and words
 * have GIN); from and to leave out whole partitions. Throws BadCursorError.
 */
export async function listRuns(
  db: Kysely<Database>,
  filters: RunFilters,
  page: PageRequest,
): Promise<Page<RecordedRun>> {
  const limit = pageLimit(page)
  const after = page.cursor === undefined ? undefined : decodeCursor(page.cursor, UUID)
  const scheduleId =
    filters.schedule === undefined ? undefined : await findScheduleId(db, filters.schedule)
  if (filters.schedule !== undefined && scheduleId === undefined)
    return { items: [], nextCursor: null }
  let query = db
    .selectFrom('runs')
    .selectAll()
    .where((eb) => eb.and(conditions(eb, filters)))
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (after !== undefined) query = query.where('id', '<', after)
  if (scheduleId !== undefined) query = query.where('schedule_id', '=', scheduleId)
  const { items, nextCursor } = pageOf(await query.execute(), limit, (last) =>
    encodeCursor(last.id),
  )
  return { items: await withAttempts(db, items), nextCursor }
}

function conditions(
  eb: ExpressionBuilder<Database, 'runs'>,
  filters: RunFilters,
): Expression<SqlBool>[] {
  const { job, queue, state, parent, labels, from, to, q } = filters
  const all: Expression<SqlBool>[] = []
  if (job !== undefined) all.push(eb('job', '=', job))
  if (queue !== undefined) all.push(eb('queue', '=', queue))
  if (state !== undefined) all.push(eb('state', '=', state))
  if (parent !== undefined) all.push(eb('parent_id', '=', parent))
  if (labels !== undefined)
    all.push(sql<SqlBool>`labels is not null and labels @> ${JSON.stringify(labels)}::jsonb`)
  if (from !== undefined) all.push(eb('id', '>=', firstUuidAt(from.getTime())))
  if (to !== undefined) all.push(eb('id', '<', firstUuidAt(to.getTime())))
  if (q !== undefined && q.trim() !== '') all.push(words(eb, q.trim()))
  return all
}

/** Served by runs_pkey, runs_job_idx and runs_error_words_idx. */
function words(eb: ExpressionBuilder<Database, 'runs'>, q: string): Expression<SqlBool> {
  if (UUID.test(q)) return eb('id', '=', q.toLowerCase())
  return eb.or([
    eb('job', '=', q),
    sql<SqlBool>`error is not null and to_tsvector('simple', error ->> 'message') @@ plainto_tsquery('simple', ${q})`,
  ])
}

async function findScheduleId(db: Kysely<Database>, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('schedules')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.id
}

async function withAttempts(db: Kysely<Database>, runs: RunRow[]): Promise<RecordedRun[]> {
  const byRun = new Map(runs.map((run) => [run.id, { run, attempts: [] as AttemptRow[] }]))
  for (const attempt of await listAttempts(db, [...byRun.keys()]))
    byRun.get(attempt.run_id)?.attempts.push(attempt)
  return [...byRun.values()]
}
