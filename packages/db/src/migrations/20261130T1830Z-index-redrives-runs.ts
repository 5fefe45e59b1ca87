import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. Small, because few runs are made by redrives. */
export const indexRedrivesRuns: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves dropPartitions(), which looks twice for the runs of a day that live on, and findReturned().
    await sql`CREATE INDEX runs_redrive_idx ON runs (state, finished_at)
      WHERE redrive_of IS NOT NULL`.execute(db)
  },
}
