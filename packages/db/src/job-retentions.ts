import { DAY, type JobDescription, Retention } from '@jadwal/domain'
import { sql } from 'kysely'
import type { Db } from './database.ts'

/** A job whose runs are not kept as long as all others, and how. */
export interface JobRetention {
  job: string
  retention: Retention
}

/** So long the retention of a job holds that is published without one. */
const HOLDS_ON_MS = DAY

/**
 * Writes down how long jobs say that their runs are kept, so that it is known whatever Redis loses: a job
 * that is not among those given keeps what it said last. One that says nothing any more loses it after a day.
 */
export async function noteRetentions(
  db: Db,
  jobs: readonly Pick<JobDescription, 'name' | 'retention'>[],
  now: Date,
): Promise<void> {
  const saying = jobs.filter(({ retention }) => retention !== undefined)
  const silent = jobs.filter(({ retention }) => retention === undefined).map(({ name }) => name)
  const table = sql.table('job_retentions')
  if (saying.length > 0)
    await sql`
      INSERT INTO ${table} AS j (job, retention)
      SELECT job, retention::jsonb FROM unnest(
        ${saying.map(({ name }) => name)}::text[],
        ${saying.map(({ retention }) => JSON.stringify(retention))}::text[]) AS said(job, retention)
      ON CONFLICT (job) DO UPDATE SET retention = excluded.retention, withdrawn_at = NULL
      WHERE j.retention <> excluded.retention OR j.withdrawn_at IS NOT NULL`.execute(db)
  await sql`UPDATE ${table} SET withdrawn_at = ${now}
    WHERE withdrawn_at IS NULL AND job = ANY (${silent}::text[])`.execute(db)
  await db
    .deleteFrom('job_retentions')
    .where('withdrawn_at', '<', new Date(now.getTime() - HOLDS_ON_MS))
    .execute()
}

/** The retentions that hold, by job. */
export async function listRetentions(db: Db): Promise<JobRetention[]> {
  const rows = await db.selectFrom('job_retentions').selectAll().orderBy('job').execute()
  return rows.flatMap(({ job, retention }) => {
    const parsed = Retention.safeParse(retention)
    return parsed.success ? [{ job, retention: parsed.data }] : []
  })
}
