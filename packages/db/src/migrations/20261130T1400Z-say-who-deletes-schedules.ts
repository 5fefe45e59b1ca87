import { type Kysely, type Migration, sql } from 'kysely'

/** Who deleted a schedule and why: on the version that was in force. */
export const sayWhoDeletesSchedules: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`
      ALTER TABLE schedule_versions
        ADD COLUMN deleted_by text,
        ADD COLUMN deleted_reason text`.execute(db)
  },
}
