import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import { decodeInstantCursor, encodeInstantCursor } from './cursor.ts'
import type { Database, Db, RunRow, SettledLetterRow } from './database.ts'
import { listAttempts, type RecordedRun } from './find-run.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'
import { isRecordedBefore, type RecordedBefore } from './recorded-before.ts'
import { findSettled } from './settled-letters.ts'

export interface DeadLetterFilters {
  /** Of the runs. */
  ids?: readonly string[]
  queue?: string
  job?: string
  fingerprint?: string
  /** Any of these. */
  jobs?: readonly string[]
  /** A redrive: without the runs that it made. */
  notMadeBy?: string
  /** When the run died. From, inclusive. */
  from?: Date
  /** To, exclusive. */
  to?: Date
}

/** Whether a letter has been redriven or discarded. */
export type Settled = 'yes' | 'no' | 'any'

/** Dead runs, latest death first. Served by runs_dead_idx and runs_fingerprint_idx. Throws BadCursorError. */
export async function listDeadLetters(
  db: Db,
  filters: DeadLetterFilters & { settled: Settled },
  page: PageRequest,
): Promise<Page<RecordedRun>> {
  const limit = pageLimit(page)
  let query = db
    .selectFrom('runs_all')
    .selectAll()
    .where((eb) => eb.and(conditions(eb, filters)))
    .orderBy('finished_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (page.cursor !== undefined) {
    const { at, id } = decodeInstantCursor(page.cursor)
    query = query.where((eb) => eb(eb.refTuple('finished_at', 'id'), '<', eb.tuple(at, id)))
  }
  const { items, nextCursor } = pageOf(await query.execute(), limit, (last) =>
    encodeInstantCursor(last.finished_at ?? new Date(0), last.id),
  )
  return { items: await withRest(db, items), nextCursor }
}

/** How many dead letters nobody has settled; undefined when more than `most`. Served as listDeadLetters(). */
export async function countDeadLetters(
  db: Db,
  filters: DeadLetterFilters,
  most: number,
): Promise<number | undefined> {
  const { count } = await db
    .selectFrom((from) =>
      from
        .selectFrom('runs_all')
        .select('id')
        .where((eb) => eb.and(conditions(eb, { ...filters, settled: 'no' })))
        .limit(most + 1)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count > most ? undefined : count
}

/** Where a walk through letters is. */
export interface LetterPosition {
  finished_at: Date
  id: string
}

/** How a walk goes on. */
export interface LetterWalk {
  after?: LetterPosition | undefined
  limit: number
}

/** Letters that nobody has settled, oldest death first, after a position when given. Served as listDeadLetters(). */
export async function listUnsettledLetters(
  db: Db,
  filters: DeadLetterFilters,
  walk: LetterWalk,
): Promise<RunRow[]> {
  return unsettled(db, filters, walk).selectAll().execute()
}

/** The same, without what the runs carry. */
export async function listUnsettledIds(
  db: Db,
  filters: DeadLetterFilters,
  walk: LetterWalk,
): Promise<Pick<RunRow, 'id' | 'queue' | 'finished_at'>[]> {
  return unsettled(db, filters, walk).select(['id', 'queue', 'finished_at']).execute()
}

function unsettled(db: Db, filters: DeadLetterFilters, { after, limit }: LetterWalk) {
  const query = db
    .selectFrom('runs_all')
    .where((eb) => eb.and(conditions(eb, { ...filters, settled: 'no' })))
    .orderBy('finished_at')
    .orderBy('id')
    .limit(limit)
  return after === undefined
    ? query
    : query.where((eb) =>
        eb(eb.refTuple('finished_at', 'id'), '>', eb.tuple(after.finished_at, after.id)),
      )
}

/** What Postgres knows of runs by their ids, as dead letters. Served by the primary keys. */
export async function findLetters(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, { run?: RunRow; settled?: SettledLetterRow }>> {
  const found = new Map<string, { run?: RunRow; settled?: SettledLetterRow }>()
  if (ids.length === 0) return found
  const wanted = sql<boolean>`id = ANY (${[...ids]}::uuid[])`
  for (const run of await db.selectFrom('runs_all').selectAll().where(wanted).execute())
    found.set(run.id, { run })
  for (const settled of await findSettled(db, ids))
    found.set(settled.run_id, { ...found.get(settled.run_id), settled })
  return found
}

/** Of the view `runs_all`. What was decided later than `settledBefore` does not count. */
export function conditions(
  eb: ExpressionBuilder<Database, 'runs_all'>,
  filters: DeadLetterFilters & { settled: Settled; settledBefore?: RecordedBefore },
): Expression<SqlBool>[] {
  const { ids, queue, job, jobs, fingerprint, notMadeBy, from, to, settled } = filters
  const all: Expression<SqlBool>[] = [eb('state', '=', sql.lit('dead'))]
  if (ids !== undefined) all.push(sql<SqlBool>`id = ANY (${[...ids]}::uuid[])`)
  if (queue !== undefined) all.push(eb('queue', '=', queue))
  if (job !== undefined) all.push(eb('job', '=', job))
  if (fingerprint !== undefined) all.push(eb('fingerprint', '=', fingerprint))
  if (from !== undefined) all.push(eb('finished_at', '>=', from))
  if (to !== undefined) all.push(eb('finished_at', '<', to))
  if (jobs !== undefined) all.push(sql<SqlBool>`job = ANY (${[...jobs]}::text[])`)
  if (notMadeBy !== undefined) {
    const made = eb
      .selectFrom('settled_letters as made')
      .select('made.run_id')
      .whereRef('made.run_id', '=', 'runs_all.redrive_of')
      .where('made.redrive_id', '=', notMadeBy)
    all.push(eb.not(eb.exists(made)))
  }
  let decided = eb
    .selectFrom('settled_letters')
    .select('run_id')
    .whereRef('run_id', '=', 'runs_all.id')
  if (filters.settledBefore !== undefined)
    decided = decided.where(isRecordedBefore('settled_letters.recorded_at', filters.settledBefore))
  const decision = eb.exists(decided)
  if (settled !== 'any') all.push(settled === 'yes' ? decision : eb.not(decision))
  return all
}

async function withRest(db: Db, runs: RunRow[]): Promise<RecordedRun[]> {
  const ids = runs.map(({ id }) => id)
  const byRun = new Map<string, RecordedRun>(runs.map((run) => [run.id, { run, attempts: [] }]))
  for (const attempt of await listAttempts(db, ids))
    byRun.get(attempt.run_id)?.attempts.push(attempt)
  for (const settled of await findSettled(db, ids)) {
    const recorded = byRun.get(settled.run_id)
    if (recorded) recorded.settled = settled
  }
  return [...byRun.values()]
}
