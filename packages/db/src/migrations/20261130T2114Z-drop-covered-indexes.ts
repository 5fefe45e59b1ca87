import { type Kysely, type Migration, sql } from 'kysely'

/** What runs_job_state_idx, runs_queue_state_idx and runs_words_idx serve now. */
export const dropCoveredIndexes: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`DROP INDEX runs_job_idx, runs_queue_idx, runs_error_words_idx`.execute(db)
  },
}
