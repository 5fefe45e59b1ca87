import type { PageRequest, ScheduleFilters } from '@jadwal/db'
import { z } from 'zod'
import { Labels, Name, PageQuery, wellFormed, withoutUndefined } from './run-query.ts'
import { parseRequest } from './zod-problem.ts'

/** The query of `GET /schedules`. */
export const ScheduleQuery = PageQuery.extend({
  job: Name.optional(),
  source: z.enum(['file', 'api'], 'must be file or api').optional(),
  label: Labels.optional(),
})

/** The query of `GET /api/v1/schedules`. Throws a `Problem` that names every bad field. */
export function readScheduleQuery(query: unknown): {
  filters: ScheduleFilters
  page: PageRequest
} {
  const { limit, cursor, label, ...rest } = parseRequest(ScheduleQuery, query, 'query')
  return {
    filters: withoutUndefined<ScheduleFilters>({ ...rest, labels: label }),
    page: withoutUndefined<PageRequest>({ limit, cursor }),
  }
}

/** Why a change is made, in words that Postgres can keep. */
export const Reason = z
  .string('must be a text, given once')
  .max(1_000, 'must have at most 1000 characters')
  .regex(/^[^\0]*$/, 'must not have the character U+0000')
  .transform(wellFormed)

/** The query of what changes a schedule or calendar. */
export const ChangeQuery = z.strictObject({ reason: Reason.optional() })

/** The query of what changes something. */
export function readReason(query: unknown): { reason?: string } {
  return withoutUndefined<{ reason?: string }>(parseRequest(ChangeQuery, query, 'query'))
}
