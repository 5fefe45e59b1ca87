import { DAY, firstUuidAt } from '@jadwal/domain'
import { type Kysely, sql } from 'kysely'
import type { AuditRow } from './access-tables.ts'
import { decodeCursor, encodeCursor, UUID } from './cursor.ts'
import type { Database } from './database.ts'
import { BATCH, inBatches } from './in-batches.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

/** Which entries; a value that is absent says nothing. */
export interface AuditFilters {
  actor?: string
  action?: string
  subject?: string
  /** When it was done. From, inclusive; to, exclusive; in steps of a millisecond. */
  from?: Date
  to?: Date
}

/**
 * Entries of the audit log, newest first. Served by audit_log_pkey, or by audit_log_actor_idx,
 * audit_log_action_idx or audit_log_subject_idx. Throws BadCursorError.
 */
export async function listAudit(
  db: Kysely<Database>,
  { actor, action, subject, from, to }: AuditFilters,
  page: PageRequest,
): Promise<Page<AuditRow>> {
  const limit = pageLimit(page)
  let query = db
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (action !== undefined) query = query.where('action', '=', action)
  if (subject !== undefined) query = query.where('subject', '=', subject)
  if (from) query = query.where('id', '>=', firstUuidAt(from.getTime()))
  if (to) query = query.where('id', '<', firstUuidAt(to.getTime()))
  if (page.cursor !== undefined) query = query.where('id', '<', decodeCursor(page.cursor, UUID))
  return pageOf(await query.execute(), limit, (last) => encodeCursor(last.id))
}

/** Deletes the entries that are older than `days`. */
export async function deleteOldAudit(
  db: Kysely<Database>,
  { now, days }: { now: Date; days: number },
): Promise<void> {
  const border = firstUuidAt(now.getTime() - days * DAY)
  const log = sql.table('audit_log')
  await inBatches(
    db,
    sql`
      WITH gone AS (
        DELETE FROM ${log} WHERE id IN (SELECT id FROM ${log} WHERE id < ${border} ORDER BY id LIMIT ${BATCH})
        RETURNING 1
      ) SELECT count(*) AS deleted FROM gone`,
  )
}
