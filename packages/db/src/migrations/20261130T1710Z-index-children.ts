import { type Kysely, type Migration, sql } from 'kysely'

export const indexChildren: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listRuns() with a parent.
    await sql`CREATE INDEX runs_parent_idx ON runs (parent_id, id)
      WHERE parent_id IS NOT NULL`.execute(db)
  },
}
