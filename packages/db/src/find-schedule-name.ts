import { ScheduleId } from '@jadwal/domain'
import type { Db } from './database.ts'

export interface NamedSchedule {
  id: ScheduleId
  name: string
  deletedAt: Date | null
}

/** A schedule by its name, a deleted one too. Served by schedules_name_is_unique. */
export async function findScheduleName(db: Db, name: string): Promise<NamedSchedule | undefined> {
  const row = await db
    .selectFrom('schedules')
    .select(['id', 'name', 'deleted_at'])
    .where('name', '=', name)
    .executeTakeFirst()
  return row && { id: ScheduleId.parse(row.id), name: row.name, deletedAt: row.deleted_at }
}
