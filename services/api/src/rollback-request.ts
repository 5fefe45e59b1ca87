import { z } from 'zod'
import { Reason } from './schedule-query.ts'

/** The body of `POST /schedules/{name}/rollback`. */
export const RollbackBody = z.strictObject({
  version: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(2 ** 31 - 1),
  reason: Reason.optional(),
})
