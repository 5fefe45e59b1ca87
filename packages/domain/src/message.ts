import { z } from 'zod'

/** What a BullMQ message of a run carries beside its id (the run's) and its name (the job's). */
export const RunMessage = z.object({
  /** Version of this form. A worker leaves a message of a version that it does not know alone. */
  v: z.literal(1),
  payload: z.unknown(),
  tick: z
    .object({ scheduleId: z.uuid(), schedule: z.string(), at: z.iso.datetime(), term: z.int() })
    .optional(),
  labels: z.record(z.string(), z.string()).optional(),
  /** Over the job's own. */
  attempts: z.int().min(1).optional(),
  timeoutMs: z.int().min(1).optional(),
  redriveOf: z.uuid().optional(),
})
export type RunMessage = z.infer<typeof RunMessage>
