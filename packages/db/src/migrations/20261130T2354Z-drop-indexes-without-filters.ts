import { type Kysely, type Migration, sql } from 'kysely'

/** What runs_words_filters_idx, runs_schedule_filters_idx and runs_late_filters_idx serve now. */
export const dropIndexesWithoutFilters: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`DROP INDEX runs_words_idx, runs_schedule_idx, runs_were_late_idx, runs_was_late_idx,
      runs_kept_to_tsvector_idx, runs_kept_schedule_id_id_idx, runs_kept_id_idx1`.execute(db)
  },
}
