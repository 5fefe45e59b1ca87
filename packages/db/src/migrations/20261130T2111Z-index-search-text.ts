import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Reads all runs: others read them meanwhile, writers wait. What was written lately waits unsorted in
 * the index and is read through by each search, so that part is kept small.
 */
export const indexSearchText: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listRuns() with words to search for. Its expression is that of hasWords() in run-filters.ts.
    await sql`CREATE INDEX runs_words_idx ON runs USING gin (to_tsvector('simple',
        left(coalesce(error ->> 'message', ''), 8000) || ' ' || left(coalesce(search, ''), 8000)))
      WITH (gin_pending_list_limit = 256)
      WHERE error IS NOT NULL OR search IS NOT NULL`.execute(db)
  },
}
