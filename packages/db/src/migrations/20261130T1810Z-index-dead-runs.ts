import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. Small, because few runs are dead. */
export const indexDeadRuns: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listDeadLetters(), and listDeadLetterGroups() with a period.
    await sql`CREATE INDEX runs_dead_idx ON runs (finished_at, id) WHERE state = 'dead'`.execute(db)
  },
}
