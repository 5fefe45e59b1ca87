import { DAY, firstUuidAt, RunId, runIdTimeMs, type RunState } from '@jadwal/domain'
import { type Insertable, sql } from 'kysely'
import { decodeInstantCursor, encodeInstantCursor } from './cursor.ts'
import type { Database, Db, RedriveRow, RedriveState } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

export async function insertRedrive(
  db: Db,
  redrive: Insertable<Database['redrives']>,
): Promise<void> {
  await db.insertInto('redrives').values(redrive).execute()
}

/** Redrives, latest first. Served by redrives_created_idx. Throws BadCursorError. */
export async function listRedrives(db: Db, page: PageRequest): Promise<Page<RedriveRow>> {
  const limit = pageLimit(page)
  let query = db
    .selectFrom('redrives')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (page.cursor !== undefined) {
    const { at, id } = decodeInstantCursor(page.cursor)
    query = query.where((eb) => eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(at, id)))
  }
  return pageOf(await query.execute(), limit, (last) =>
    encodeInstantCursor(last.created_at, last.id),
  )
}

export async function findRedrive(db: Db, id: string): Promise<RedriveRow | undefined> {
  return db.selectFrom('redrives').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Those that the leader is to carry out, oldest first. Served by redrives_running_idx. */
export async function listRunningRedrives(db: Db): Promise<RedriveRow[]> {
  return db
    .selectFrom('redrives')
    .selectAll()
    .where('state', '=', sql.lit('running'))
    .orderBy('created_at')
    .execute()
}

/** Writes how many letters a redrive is of. */
export async function noteLetters(db: Db, id: string, letters: number): Promise<void> {
  await db.updateTable('redrives').set({ letters }).where('id', '=', id).execute()
}

export interface RedriveProgress {
  redriven: number
  /** By state; null where they are too many to be counted. */
  runs: Partial<Record<RunState, number>> | null
}

/**
 * How many letters a redrive has settled, and, where those are `most` at most, how many of its runs are
 * in which state, as far as recorded. Served by settled_letters_redrive_idx, and by runs_pkey in the
 * partitions from the first to the last of the letters.
 */
export async function countRedriven(db: Db, id: string, most: number): Promise<RedriveProgress> {
  const { redriven, first, last } = await db
    .selectFrom('settled_letters')
    .select((eb) => [
      eb.fn.countAll<number>().as('redriven'),
      sql<string | null>`min(run_id::text)`.as('first'),
      sql<string | null>`max(run_id::text)`.as('last'),
    ])
    .where('redrive_id', '=', id)
    .executeTakeFirstOrThrow()
  if (redriven > most) return { redriven, runs: null }
  if (first === null || last === null) return { redriven, runs: {} }
  // The id of a run that a redrive made has the time of the dead one.
  const from = firstUuidAt(runIdTimeMs(RunId.parse(first)))
  const to = firstUuidAt(runIdTimeMs(RunId.parse(last)) + 1)
  const rows = await db
    .selectFrom('settled_letters as s')
    .leftJoin('runs_all as r', (join) =>
      join.onRef('r.id', '=', 's.redriven_as').on('r.id', '>=', from).on('r.id', '<', to),
    )
    .select((eb) => [
      eb.fn.coalesce('r.state', sql.lit<RunState>('queued')).as('state'),
      eb.fn.countAll<number>().as('count'),
    ])
    .where('s.redrive_id', '=', id)
    .groupBy(sql`1`)
    .execute()
  return { redriven, runs: Object.fromEntries(rows.map((row) => [row.state, row.count])) }
}

/** Goes from one of the states given to another. False when it is in none of them. */
export async function changeRedriveState(
  db: Db,
  id: string,
  change: RedriveChange,
): Promise<boolean> {
  const told = await tellingRedriveState(db, id, change)
  return told?.isChanged ?? false
}

export interface RedriveChange {
  from: readonly RedriveState[]
  to: Exclude<RedriveState, 'stopped'>
  at: Date
}

/** The same, with the state right before and the redrive right after; undefined when there is none. */
export async function tellingRedriveState(
  db: Db,
  id: string,
  { from, to, at }: RedriveChange,
): Promise<{ isChanged: boolean; before: RedriveState; after: RedriveRow } | undefined> {
  return await db.transaction().execute(async (tx) => {
    const current = await tx
      .selectFrom('redrives')
      .selectAll()
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (!current) return undefined
    const { state: before } = current
    if (!from.includes(before)) return { isChanged: false, before, after: current }
    const changed = { state: to, finished_at: to === 'cancelled' || to === 'done' ? at : null }
    await tx.updateTable('redrives').set(changed).where('id', '=', id).execute()
    return { isChanged: true, before, after: { ...current, ...changed } }
  })
}

/** A run of a canary died like the one before it. */
export async function stopRedrive(
  db: Db,
  id: string,
  { run, fingerprint, at }: { run: string; fingerprint: string | null; at: Date },
): Promise<boolean> {
  const result = await db
    .updateTable('redrives')
    .set({
      state: 'stopped',
      finished_at: at,
      returned_run: run,
      returned_fingerprint: fingerprint,
    })
    .where('id', '=', id)
    .where('state', 'in', ['running', 'paused'])
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/**
 * Begins a step of a canary with these letters, before any of them is redriven, so that whoever leads
 * goes on with the same. False when somebody else has begun it, or the redrive no longer runs.
 */
export async function beginCanaryStep(
  db: Db,
  id: string,
  { step, letters }: { step: number; letters: readonly string[] },
): Promise<boolean> {
  const result = await db
    .updateTable('redrives')
    .set({ step, canary_letters: [...letters] })
    .where('id', '=', id)
    .where('step', '=', step - 1)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Writes what is in the way of a redrive, for people. */
export async function noteRedrive(
  db: Db,
  id: string,
  note: Pick<RedriveRow, 'refused' | 'problem'>,
): Promise<void> {
  await db.updateTable('redrives').set(note).where('id', '=', id).execute()
}

export interface ReturnedRun {
  run: string
  fingerprint: string | null
}

/** So much the clocks of a worker, which says when a run died, and of the api may differ; it only keeps the search short. */
const CLOCKS_APART_MS = DAY

/**
 * A run of a redrive that died of what its dead letter had died of; also where that is not known.
 * Served by runs_redrive_idx: looks at dead runs of any redrive, from about when this one was made.
 */
export async function findReturned(
  db: Db,
  redrive: Pick<RedriveRow, 'id' | 'created_at'>,
): Promise<ReturnedRun | undefined> {
  return db
    .selectFrom('runs as r')
    .innerJoin('settled_letters as s', 's.run_id', 'r.redrive_of')
    .innerJoin('runs_all as before', 'before.id', 's.run_id')
    .select(['r.id as run', 'r.fingerprint'])
    .where('r.state', '=', sql.lit('dead'))
    .where('r.redrive_of', 'is not', null)
    .where('r.finished_at', '>=', new Date(redrive.created_at.getTime() - CLOCKS_APART_MS))
    .where('s.redrive_id', '=', redrive.id)
    .whereRef('s.redriven_as', '=', 'r.id')
    .where((eb) =>
      eb.or([
        eb('before.fingerprint', 'is', null),
        eb('before.fingerprint', '=', eb.ref('r.fingerprint')),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
}

/** Those of the runs that Postgres has not heard of the end of. Served by runs_pkey. */
export async function notEnded(db: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('runs_all')
    .select('id')
    .where(sql<boolean>`id = ANY (${[...ids]}::uuid[])`)
    .where('finished_at', 'is not', null)
    .execute()
  const ended = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => !ended.has(id))
}
