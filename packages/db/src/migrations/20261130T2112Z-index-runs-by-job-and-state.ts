import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. */
export const indexRunsByJobAndState: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listRuns() with a job, and with a job and states: without any, each state is a place to begin.
    await sql`CREATE INDEX runs_job_state_idx ON runs (job, state, id)`.execute(db)
  },
}
