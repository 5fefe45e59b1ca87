import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. A plain run that succeeded is in none of these. */
export const indexRunsByKeyAndError: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listRuns() with an idempotency key, and with words that may be one.
    await sql`CREATE INDEX runs_idempotency_key_idx ON runs (idempotency_key, id)
      WHERE idempotency_key IS NOT NULL`.execute(db)
    // Serves listRuns() with an error's name.
    await sql`CREATE INDEX runs_error_idx ON runs ((error ->> 'name'), id)
      WHERE error IS NOT NULL`.execute(db)
    // Serves listRuns() with a backfill.
    await sql`CREATE INDEX runs_of_backfill_idx ON runs (backfill_id, id)
      WHERE backfill_id IS NOT NULL`.execute(db)
    // Serves listRuns() of late ticks.
    await sql`CREATE INDEX runs_were_late_idx ON runs (id) WHERE late_at IS NOT NULL`.execute(db)
  },
}
