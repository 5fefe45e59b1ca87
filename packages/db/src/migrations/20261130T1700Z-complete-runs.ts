import { type Kysely, type Migration, sql } from 'kysely'

/** Where a run comes from, what it was limited by, what it died of, and what its handler logged. */
export const completeRuns: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`
      ALTER TABLE runs
        ADD COLUMN parent_id uuid,
        ADD COLUMN idempotency_key text,
        ADD COLUMN concurrency_key text,
        ADD COLUMN fingerprint text`.execute(db)
    await sql`ALTER TABLE attempts ADD COLUMN log jsonb`.execute(db)
  },
}
