import type { Kysely } from 'kysely'
import type { Database, RunRow } from './database.ts'

/** Those of the runs that have not ended. */
export async function stillUnfinished(
  db: Kysely<Database>,
  ids: readonly string[],
): Promise<RunRow[]> {
  if (ids.length === 0) return []
  return await db
    .selectFrom('runs')
    .selectAll()
    .where('id', 'in', ids)
    .where('finished_at', 'is', null)
    .execute()
}
