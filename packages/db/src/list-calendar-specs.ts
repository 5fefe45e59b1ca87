import { type Calendars, readCalendars } from '@jadwal/domain'
import type { Db } from './database.ts'

/** All calendars as they are now, which is what every schedule in force has of them. */
export async function listCalendarSpecs(db: Db): Promise<Calendars> {
  const rows = await db.selectFrom('calendars').select(['name', 'spec']).execute()
  return readCalendars(Object.fromEntries(rows.map(({ name, spec }) => [name, spec])))
}
