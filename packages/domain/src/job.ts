import { z } from 'zod'
import { JobName, QueueName } from './names.ts'
import { Backoff } from './retry-policy.ts'

/**
 * A job as the rest of the system sees it: what a live worker publishes of each job that it serves.
 * The scheduler and the api check payloads against `payloadSchema` without having the job's code.
 */
export const JobDescription = z.object({
  name: JobName,
  queue: QueueName,
  description: z.string().optional(),
  attempts: z.int().min(1).max(1_000),
  backoff: Backoff,
  timeoutMs: z.int().min(1),
  /** JSON Schema (draft 2020-12) of the payload. */
  payloadSchema: z.record(z.string(), z.unknown()),
})
export type JobDescription = z.infer<typeof JobDescription>
