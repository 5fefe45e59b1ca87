import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Runs whose job keeps them longer than their day's partition is there. The views are the whole
 * history: who reads runs of any age reads them there. A column that `runs` or `attempts` gets later
 * is added to the kept table too, at the end, and the view made again.
 */
export const keepRunsOfJobs: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`CREATE TABLE runs_kept (LIKE runs INCLUDING ALL)`.execute(db)
    await sql`CREATE TABLE attempts_kept (LIKE attempts INCLUDING ALL)`.execute(db)
    // Serves deleteOldKept().
    await sql`CREATE INDEX runs_kept_finished_idx ON runs_kept (job, finished_at)`.execute(db)
    await sql`CREATE VIEW runs_all AS
      SELECT * FROM runs UNION ALL SELECT * FROM runs_kept`.execute(db)
    await sql`CREATE VIEW attempts_all AS
      SELECT * FROM attempts UNION ALL SELECT * FROM attempts_kept`.execute(db)
    await sql`
      CREATE TABLE job_retentions (
        job text NOT NULL,
        retention jsonb NOT NULL,
        CONSTRAINT job_retentions_pkey PRIMARY KEY (job)
      )`.execute(db)
  },
}
