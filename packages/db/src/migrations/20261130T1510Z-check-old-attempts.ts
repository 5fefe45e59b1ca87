import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all attempts; others read and write them meanwhile. */
export const checkOldAttempts: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`ALTER TABLE attempts VALIDATE CONSTRAINT attempts_state_is_known`.execute(db)
  },
}
