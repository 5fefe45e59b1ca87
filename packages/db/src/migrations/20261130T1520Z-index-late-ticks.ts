import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs, of which none is in the index yet: others read them meanwhile, writers wait. */
export const indexLateTicks: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves markLateTicks(): small, because only ticks that are watched and not late yet are in it.
    await sql`CREATE INDEX runs_late_idx ON runs (late_due_at)
      WHERE late_due_at IS NOT NULL AND late_at IS NULL`.execute(db)
  },
}
