import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. */
export const indexWordsWithFilters: Migration = {
  async up(db: Kysely<unknown>) {
    // Serves listRuns() with words or an error, and with what else is asked for. Its expressions are those
    // of gather-runs.ts; the words alone are those of runs_words_idx, whose searches it serves too.
    for (const table of ['runs', 'runs_kept']) {
      await sql`CREATE INDEX ${sql.ref(`${table}_words_filters_idx`)} ON ${sql.table(table)} USING gin (
          to_tsvector('simple',
            left(coalesce(error ->> 'message', ''), 8000) || ' ' || left(coalesce(search, ''), 8000)),
          array_remove(ARRAY['job=' || job, 'queue=' || queue, 'state=' || state,
            'schedule=' || schedule_id::text, 'error=' || (error ->> 'name'),
            CASE WHEN late_at IS NOT NULL THEN 'late' END], NULL),
          labels jsonb_path_ops)
        WITH (gin_pending_list_limit = 256)
        WHERE error IS NOT NULL OR search IS NOT NULL`.execute(db)
    }
  },
}
