import { type Kysely, type Migration, sql } from 'kysely'

/** Reads all runs: others read them meanwhile, writers wait. */
export const indexSchedulesWithFilters: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of ['runs', 'runs_kept']) {
      // Serves listRuns() with a schedule, and with the columns beside it, which need no look at the rows;
      // listTickRows() and findScheduleDuration().
      await sql`CREATE INDEX ${sql.ref(`${table}_schedule_filters_idx`)} ON ${sql.table(table)}
        (schedule_id, id) INCLUDE (state, job, queue) WHERE schedule_id IS NOT NULL`.execute(db)
      // Serves findLateTicks(), and listRuns() of late ticks: few of a day, so their ids need not be in order.
      await sql`CREATE INDEX ${sql.ref(`${table}_late_filters_idx`)} ON ${sql.table(table)}
        (late_at) INCLUDE (id, schedule_id, state, job, queue) WHERE late_at IS NOT NULL`.execute(
        db,
      )
    }
  },
}
