import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. Small, because few runs are dead. */
export const indexFingerprints: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listDeadLetters() with a fingerprint.
    await sql`CREATE INDEX runs_fingerprint_idx ON runs (fingerprint, finished_at, id)
      WHERE state = 'dead'`.execute(db)
  },
}
