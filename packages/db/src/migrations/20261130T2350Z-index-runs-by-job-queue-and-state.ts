import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. */
export const indexRunsByJobQueueAndState: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listRuns() with a job, with a job and a queue, and with states: each queue and state is a place
    // to begin. The same for thinHistory() and keepRunsOfDay().
    await sql`CREATE INDEX runs_job_queue_state_idx ON runs (job, queue, state, id)`.execute(db)
    await sql`CREATE INDEX runs_kept_job_queue_state_idx
      ON runs_kept (job, queue, state, id)`.execute(db)
  },
}
