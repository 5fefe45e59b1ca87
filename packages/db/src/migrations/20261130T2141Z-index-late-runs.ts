import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. Small, because few ticks are late. */
export const indexLateRuns: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves findLateTicks().
    await sql`CREATE INDEX runs_was_late_idx ON runs (late_at)
      WHERE late_at IS NOT NULL`.execute(db)
  },
}
