import { type Kysely, type Migration, sql } from 'kysely'

/** A redrive is there at once; its letters are counted after that, where that is quick. */
export const letRedrivesBeUncounted: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`ALTER TABLE redrives ALTER COLUMN letters DROP NOT NULL`.execute(db)
  },
}
