import type { Db, ScheduleSource } from './database.ts'

/** Whether any schedule of a source is in force. */
export async function hasSchedules(db: Db, source: ScheduleSource): Promise<boolean> {
  const row = await db
    .selectFrom('schedules')
    .select('id')
    .where('source', '=', source)
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
