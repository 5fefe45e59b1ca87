import { type Kysely, type Migration, sql } from 'kysely'

/** A retention that its job no longer has holds for a while: an older worker may just have published. */
export const withdrawRetentions: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`ALTER TABLE job_retentions ADD COLUMN withdrawn_at timestamptz`.execute(db)
  },
}
