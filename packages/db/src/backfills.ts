import type { RunState } from '@jadwal/domain'
import type { Insertable } from 'kysely'
import { decodeInstantCursor, encodeInstantCursor } from './cursor.ts'
import type { BackfillRow, BackfillState, Database, Db } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

export type NamedBackfill = BackfillRow & { schedule: string }

export async function insertBackfill(
  db: Db,
  backfill: Insertable<Database['backfills']>,
): Promise<void> {
  await db.insertInto('backfills').values(backfill).execute()
}

/** Backfills, latest first; all, or those of one schedule. Served by backfills_created_idx and backfills_schedule_idx. Throws BadCursorError. */
export async function listBackfills(
  db: Db,
  filter: { schedule?: string },
  page: PageRequest,
): Promise<Page<NamedBackfill>> {
  const limit = pageLimit(page)
  let query = selectNamed(db)
    .orderBy('b.created_at', 'desc')
    .orderBy('b.id', 'desc')
    .limit(limit + 1)
  if (filter.schedule !== undefined) query = query.where('s.name', '=', filter.schedule)
  if (page.cursor !== undefined) {
    const { at, id } = decodeInstantCursor(page.cursor)
    query = query.where((eb) => eb(eb.refTuple('b.created_at', 'b.id'), '<', eb.tuple(at, id)))
  }
  return pageOf(await query.execute(), limit, (last) =>
    encodeInstantCursor(last.created_at, last.id),
  )
}

export async function findBackfill(db: Db, id: string): Promise<NamedBackfill | undefined> {
  return selectNamed(db).where('b.id', '=', id).executeTakeFirst()
}

/** Those that the leader is not done with, oldest first. Served by backfills_active_idx. */
export async function listActiveBackfills(db: Db): Promise<NamedBackfill[]> {
  return selectNamed(db).where('b.cleaned_at', 'is', null).orderBy('b.created_at').execute()
}

/** How many runs of a backfill are in which state, as far as recorded. Served by runs_backfill_idx. */
export async function countBackfillRuns(
  db: Db,
  id: string,
): Promise<Partial<Record<RunState, number>>> {
  const rows = await db
    .selectFrom('runs_all')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .where('backfill_id', '=', id)
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** Goes from one of the states given to another. False when it is in none of them. */
export async function changeBackfillState(
  db: Db,
  id: string,
  change: BackfillChange,
): Promise<boolean> {
  const told = await tellingBackfillState(db, id, change)
  return told?.isChanged ?? false
}

export interface BackfillChange {
  from: readonly BackfillState[]
  to: BackfillState
  at: Date
}

/** The same, with the state right before and the backfill right after; undefined when there is none. */
export async function tellingBackfillState(
  db: Db,
  id: string,
  { from, to, at }: BackfillChange,
): Promise<{ isChanged: boolean; before: BackfillState; after: NamedBackfill } | undefined> {
  return await db.transaction().execute(async (tx) => {
    const current = await selectNamed(tx).where('b.id', '=', id).forUpdate('b').executeTakeFirst()
    if (!current) return undefined
    const { state: before } = current
    if (!from.includes(before)) return { isChanged: false, before, after: current }
    const changed = {
      state: to,
      finished_at: to === 'cancelled' || to === 'done' ? at : null,
      ...(to === 'running' ? { problem: null } : {}),
    }
    await tx.updateTable('backfills').set(changed).where('id', '=', id).execute()
    return { isChanged: true, before, after: { ...current, ...changed } }
  })
}

/** The leader is done with a backfill that has ended. */
export async function markBackfillCleaned(db: Db, id: string, at: Date): Promise<void> {
  await db.updateTable('backfills').set({ cleaned_at: at }).where('id', '=', id).execute()
}

/** Writes how far a backfill is. Redis has the truth of it; this is for people. */
export async function recordBackfillProgress(
  db: Db,
  id: string,
  progress: Partial<Pick<BackfillRow, 'enqueued' | 'skipped' | 'position_at' | 'problem'>>,
): Promise<void> {
  await db.updateTable('backfills').set(progress).where('id', '=', id).execute()
}

function selectNamed(db: Db) {
  return db
    .selectFrom('backfills as b')
    .innerJoin('schedules as s', 's.id', 'b.schedule_id')
    .selectAll('b')
    .select('s.name as schedule')
}
