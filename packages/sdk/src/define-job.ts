import {
  Backoff,
  DEFAULT_ATTEMPTS,
  DEFAULT_BACKOFF,
  DEFAULT_TIMEOUT_MS,
  JobDescription,
  JobName,
  QueueName,
} from '@jadwal/domain'
import { z } from 'zod'
import { describeIssues } from './issues.ts'
import type { JobContext } from './job-context.ts'
import type { Job } from './job.ts'

export interface JobDefinition<P extends z.ZodType> {
  name: string
  queue: string
  description?: string
  payload: P
  /** How often a run is tried in all, 1 to 1000; 3 when left out. */
  attempts?: number
  /** The waits between attempts; what is left out comes from the default: 1 s doubled up to 60 s, half of it jitter. */
  backoff?: Partial<Backoff>
  /** How long one attempt may take, in ms; 60 s when left out. */
  timeoutMs?: number
  handler(payload: z.output<P>, ctx: JobContext): unknown
}

/** A job was defined wrongly. The message names every field, its value and what is right. */
export class JobDefinitionError extends Error {
  override name = 'JobDefinitionError'
  readonly code = 'JOB_DEFINITION'
}

const Definition = z.object({
  name: JobName,
  queue: QueueName,
  description: z.string().optional(),
  payload: z.custom<z.ZodType>(isSchema, 'must be a zod schema, for example z.object({})'),
  attempts: JobDescription.shape.attempts,
  backoff: Backoff,
  timeoutMs: JobDescription.shape.timeoutMs,
  handler: z.custom((value) => typeof value === 'function', 'must be a function'),
})

/** Defines a job: fills the defaults and checks every field, so that a mistake shows at start and not at the first tick. */
export function defineJob<P extends z.ZodType>(definition: JobDefinition<P>): Job<P> {
  const job: Job<P> = {
    ...definition,
    attempts: definition.attempts ?? DEFAULT_ATTEMPTS,
    backoff: { ...DEFAULT_BACKOFF, ...definition.backoff },
    timeoutMs: definition.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  }
  const checked = Definition.safeParse(job)
  if (!checked.success)
    throw new JobDefinitionError(
      `job ${JSON.stringify(job.name)}: ${describeIssues(checked.error.issues, job)}`,
    )
  return job
}

function isSchema(value: unknown): boolean {
  return (
    value !== null &&
    typeof value === 'object' &&
    'safeParse' in value &&
    typeof value.safeParse === 'function'
  )
}
