import type { Kysely } from 'kysely'
import type { Database, ScheduleSource } from './database.ts'

export interface ScheduleInForce {
  id: string
  name: string
  source: ScheduleSource
  /** Who wrote the version in force. */
  author: string
  version: number
  /** As written, with the file's defaults filled in. */
  spec: Record<string, unknown>
  created_at: Date
  changed_at: Date
}

/** The schedules that are not deleted, by name, each with its version in force. */
export async function listSchedules(db: Kysely<Database>): Promise<ScheduleInForce[]> {
  return selectInForce(db).orderBy('s.name').execute()
}

/** One schedule that is not deleted. Served by schedules_name_is_unique. */
export async function findSchedule(
  db: Kysely<Database>,
  name: string,
): Promise<ScheduleInForce | undefined> {
  return selectInForce(db).where('s.name', '=', name).executeTakeFirst()
}

function selectInForce(db: Kysely<Database>) {
  return db
    .selectFrom('schedules as s')
    .innerJoin('schedule_versions as v', 'v.schedule_id', 's.id')
    .select([
      's.id',
      's.name',
      's.source',
      'v.author',
      'v.version',
      'v.spec',
      's.created_at',
      's.changed_at',
    ])
    .where('v.until_at', 'is', null)
    .where('s.deleted_at', 'is', null)
}
