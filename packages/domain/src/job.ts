import { z } from 'zod'
import { Fuse } from './fuse.ts'
import { JobName, ServedQueueName } from './names.ts'
import { PayloadPath } from './payload-path.ts'
import { Retention } from './retention.ts'
import { Backoff } from './retry-policy.ts'

/** What becomes of a run whose worker died: made again, or a dead letter at once. */
export const OnLost = z.enum(['retry', 'dead-letter'])
export type OnLost = z.infer<typeof OnLost>

/** Where its handler runs, if not in the worker's own thread. */
export const Isolation = z.enum(['thread', 'process'])
export type Isolation = z.infer<typeof Isolation>

/**
 * A job as the rest of the system sees it: what a live worker publishes of each job that it serves.
 * The scheduler and the api check payloads against `payloadSchema` without having the job's code.
 */
export const JobDescription = z.object({
  name: JobName,
  queue: ServedQueueName,
  description: z.string().optional(),
  attempts: z.int().min(1).max(1_000),
  backoff: Backoff,
  timeoutMs: z.int().min(1),
  onLost: OnLost.optional(),
  isolate: Isolation.optional(),
  /** Of its child, where it is isolated: the largest heap, in MiB. */
  memoryMb: z.int().min(16).max(65_536).optional(),
  /** How many of its runs with one key may run at once. The key itself is made by the job's code. */
  concurrency: z.object({ limit: z.int().min(1).max(10_000) }).optional(),
  fuse: Fuse.optional(),
  /** What of the payload `q` finds. */
  searchable: z.array(PayloadPath).max(20).optional(),
  /** What of the payload is never shown, logged or recorded. */
  redact: z.array(PayloadPath).max(100).optional(),
  /** Payloads and results are encrypted wherever they lie. */
  encrypt: z.boolean().optional(),
  retention: Retention.optional(),
  /** JSON Schema (draft 2020-12) of the payload. */
  payloadSchema: z.record(z.string(), z.unknown()),
})
export type JobDescription = z.infer<typeof JobDescription>
