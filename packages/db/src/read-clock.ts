import { sql } from 'kysely'
import type { Db } from './database.ts'

/** What time it is by the clock of Postgres. */
export async function readClock(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const [row] = rows
  if (!row) throw new Error('Postgres does not say what time it is')
  return row.now
}
