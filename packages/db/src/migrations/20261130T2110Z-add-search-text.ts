import { type Kysely, type Migration, sql } from 'kysely'

/** What of a run's payload its job lets be searched for. */
export const addSearchText: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`ALTER TABLE runs ADD COLUMN search text`.execute(db)
  },
}
