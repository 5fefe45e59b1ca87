import type { Kysely, RawBuilder } from 'kysely'
import type { Database } from './database.ts'

/** How many rows one statement deletes. */
export const BATCH = 10_000

/** Repeats a statement, which says how many rows it `deleted`, until they are less than a batch. */
export async function inBatches(
  db: Kysely<Database>,
  statement: RawBuilder<unknown>,
): Promise<void> {
  const typed = statement as RawBuilder<{ deleted: number }>
  let deleted: number
  do {
    const { rows } = await typed.execute(db)
    deleted = rows[0]?.deleted ?? 0
  } while (deleted === BATCH)
}
