import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. */
export const indexRunsByQueueAndState: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listRuns() with a queue, and with a queue and states.
    await sql`CREATE INDEX runs_queue_state_idx ON runs (queue, state, id)`.execute(db)
  },
}
