import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. Small, because few ticks are missed. */
export const indexMissedTicks: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves findMissedTicks().
    await sql`CREATE INDEX runs_missed_idx ON runs (finished_at)
      WHERE state = 'skipped' AND reason IN ('misfire', 'unknown-job')`.execute(db)
  },
}
