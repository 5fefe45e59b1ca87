import { type Kysely, type Migration, sql } from 'kysely'

/** What runs_job_queue_state_idx serves now. */
export const dropRunsByJobAndState: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`DROP INDEX runs_job_state_idx, runs_kept_job_state_id_idx`.execute(db)
  },
}
