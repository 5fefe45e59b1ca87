import { firstUuidAt } from '@jadwal/domain'
import type { Kysely } from 'kysely'
import type { Database, RunRow } from './database.ts'

/**
 * Runs that have not ended although their id is older than `before`, oldest first, after `afterId`
 * when given. For the leader's comparison with Redis. Served by runs_unfinished_idx: small, because
 * only rows that have not ended are in it.
 */
export async function listUnfinishedRuns(
  db: Kysely<Database>,
  before: Date,
  page: { limit: number; afterId?: string },
): Promise<RunRow[]> {
  let query = db
    .selectFrom('runs')
    .selectAll()
    .where('finished_at', 'is', null)
    .where('id', '<', firstUuidAt(before.getTime()))
    .orderBy('id')
    .limit(page.limit)
  if (page.afterId !== undefined) query = query.where('id', '>', page.afterId)
  return query.execute()
}
