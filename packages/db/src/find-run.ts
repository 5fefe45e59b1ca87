import { type Kysely, sql } from 'kysely'
import type { AttemptRow, Database, RunRow, SettledLetterRow } from './database.ts'
import { findSettled } from './settled-letters.ts'

export interface RecordedRun {
  run: RunRow
  /** Oldest first. See `runView` for the attempt that is in none of them. */
  attempts: AttemptRow[]
  /** Of a dead run: what was decided about it. */
  settled?: SettledLetterRow
}

/** A run and its attempts; undefined when Postgres has not heard of it. Served by the primary keys. */
export async function findRun(db: Kysely<Database>, id: string): Promise<RecordedRun | undefined> {
  const run = await db
    .selectFrom('runs_all')
    .selectAll()
    .where('id', '=', id)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!run) return undefined
  const attempts = await listAttempts(db, [id])
  const [settled] = run.state === 'dead' ? await findSettled(db, [id]) : []
  return { run, attempts, ...(settled ? { settled } : {}) }
}

/** Those of the ids that are of a run with a row. Served by runs_pkey. */
export async function listRecordedIds(
  db: Kysely<Database>,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('runs_all')
    .select('id')
    .where(sql<boolean>`id = ANY (${[...ids]}::uuid[])`)
    .execute()
  return rows.map(({ id }) => id)
}

/** The recorded attempts of runs, by run and number. Served by attempts_pkey. */
export async function listAttempts(
  db: Kysely<Database>,
  runIds: readonly string[],
): Promise<AttemptRow[]> {
  if (runIds.length === 0) return []
  return db
    .selectFrom('attempts_all')
    .selectAll()
    .where(sql<boolean>`run_id = ANY (${[...runIds]}::uuid[])`)
    .orderBy('run_id')
    .orderBy('attempt')
    .execute()
}
