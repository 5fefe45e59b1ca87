import { type Kysely, type Migration, sql } from 'kysely'

/**
 * A run counts once in the statistics: its row says whether it had ended before, and was made again.
 * Null, which takes no room, says no.
 */
export const countEndsOnce: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`ALTER TABLE runs ADD COLUMN ended_before boolean`.execute(db)
    await sql`
      DO $$ BEGIN
        IF to_regclass('runs_kept') IS NOT NULL THEN
          ALTER TABLE runs_kept ADD COLUMN ended_before boolean;
          CREATE OR REPLACE VIEW runs_all AS SELECT * FROM runs UNION ALL SELECT * FROM runs_kept;
        END IF;
      END $$`.execute(db)
  },
}
