import type { Db } from './database.ts'

/** Rejects when Postgres does not answer, or the tables are not there. */
export async function askPostgres(db: Db): Promise<void> {
  await db.selectFrom('schedule_revision').select('revision').execute()
}
