import { OverlapPolicy } from '@jadwal/domain'
import { z } from 'zod'
import { Payload } from './enqueue-request.ts'

/** The body of `POST /schedules/{name}/trigger`. */
export const TriggerRequest = z.strictObject({
  payload: Payload.optional(),
  overlap: z
    .enum(OverlapPolicy.options, `must be one of ${OverlapPolicy.options.join(', ')}`)
    .optional(),
})
