import { sql } from 'kysely'
import type { Db } from './database.ts'

/** What schedules in force say in their field `alert`, by the names of those that do. */
export async function listAlertAddresses(
  db: Db,
  schedules: readonly string[],
): Promise<Map<string, string>> {
  if (schedules.length === 0) return new Map()
  const rows = await db
    .selectFrom('schedules as s')
    .innerJoin('schedule_versions as v', 'v.schedule_id', 's.id')
    .select(['s.name', sql<string>`v.spec ->> 'alert'`.as('alert')])
    .where('v.until_at', 'is', null)
    .where('s.deleted_at', 'is', null)
    .where('s.name', 'in', [...schedules])
    .where(sql<boolean>`v.spec ->> 'alert' IS NOT NULL`)
    .execute()
  return new Map(rows.map(({ name, alert }) => [name, alert]))
}
