import { z } from 'zod'
import { Reason } from './schedule-query.ts'

/** The query of what takes a whole schedule file. */
export const FileQuery = z.strictObject({
  prune: z.enum(['true', 'false'], 'must be true or false').optional(),
  reason: Reason.optional(),
})
