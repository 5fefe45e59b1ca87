import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs, of which none is in the index yet: others read them meanwhile, writers wait. */
export const indexBackfilledRuns: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves countBackfillRuns(), and listBackfilledRuns() with a period.
    await sql`CREATE INDEX runs_backfill_idx ON runs (backfill_id, tick_at)
      WHERE backfill_id IS NOT NULL`.execute(db)
  },
}
