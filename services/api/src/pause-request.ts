import { z } from 'zod'
import { Instant } from './run-query.ts'
import { Reason } from './schedule-query.ts'

/** The body of `POST …/pause`. */
export const PauseBody = z.strictObject({
  reason: Reason.optional(),
  until: Instant.optional(),
})

/** The body of `POST …/resume`. */
export const ResumeBody = z.strictObject({})
