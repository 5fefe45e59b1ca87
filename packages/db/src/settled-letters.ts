import { sql } from 'kysely'
import type { Db, SettledLetterRow } from './database.ts'

/** What was decided about these runs. Served by settled_letters_pkey. */
export async function findSettled(db: Db, ids: readonly string[]): Promise<SettledLetterRow[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('settled_letters')
    .selectAll()
    .where(sql<boolean>`run_id = ANY (${[...ids]}::uuid[])`)
    .execute()
}
