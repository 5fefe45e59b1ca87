import { type RawBuilder, sql } from 'kysely'
import { namedCalendars } from './named-calendars.ts'
import type { Given } from './schedule-change.ts'

/** Calendars by name, as written, with their hashes. */
export type CalendarTable = ReadonlyMap<string, { spec: Record<string, unknown>; hash: string }>

/**
 * Schedules as a table of the statement: name, spec, and the hashes of the calendars that the spec
 * names.
 */
export function givenSchedules(
  schedules: readonly Given[],
  calendars: CalendarTable,
): RawBuilder<unknown> {
  const used = new Set<string>()
  const rows = schedules.map(({ name, input }) => {
    const named = namedCalendars(input).map((each) => each.name)
    for (const each of named) used.add(each)
    return { name, spec: input, ...(named.length > 0 ? { named } : {}) }
  })
  const hashes = Object.fromEntries([...used].map((name) => [name, calendars.get(name)?.hash]))
  return sql`(
    SELECT name, spec, CASE WHEN named IS NULL THEN '{}' ELSE (
      SELECT coalesce(jsonb_object_agg(each, hashes.all -> each), '{}')
      FROM jsonb_array_elements_text(named) AS names(each)) END AS calendars
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS rows(name text, spec jsonb, named jsonb),
      (SELECT ${JSON.stringify(hashes)}::jsonb AS all) AS hashes) AS given`
}
