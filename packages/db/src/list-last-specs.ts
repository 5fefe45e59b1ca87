import { ScheduleSpec } from '@jadwal/domain'
import { sql } from 'kysely'
import type { Db } from './database.ts'

/** What a schedule asks for over the job's own. */
export type AskedOfRuns = Pick<ScheduleSpec, 'attempts' | 'timeoutMs'>

/**
 * What the last version of each schedule asks for, in force or not, by the schedule's id. One that can't
 * be read asks for nothing. Served by schedule_versions_pkey.
 */
export async function listLastSpecs(
  db: Db,
  scheduleIds: readonly string[],
): Promise<Map<string, AskedOfRuns>> {
  if (scheduleIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('schedule_versions')
    .distinctOn('schedule_id')
    .select([
      'schedule_id',
      sql`CASE jsonb_typeof(spec) WHEN 'object' THEN spec - 'payload' END`.as('spec'),
    ])
    .where(sql<boolean>`schedule_id = ANY (${[...new Set(scheduleIds)]}::uuid[])`)
    .orderBy('schedule_id')
    .orderBy('version', 'desc')
    .execute()
  return new Map(
    rows.flatMap(({ schedule_id, spec }) => {
      const read = ScheduleSpec.safeParse(spec).data
      return read ? [[schedule_id, read]] : []
    }),
  )
}
