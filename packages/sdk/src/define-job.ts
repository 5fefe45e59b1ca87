import {
  Backoff,
  DEFAULT_ATTEMPTS,
  DEFAULT_BACKOFF,
  DEFAULT_FUSE,
  DEFAULT_JITTER,
  DEFAULT_TIMEOUT_MS,
  Fuse,
  Isolation,
  JobDescription,
  JobName,
  OnLost,
  type PayloadPath,
  QueueName,
  type Retention,
} from '@jadwal/domain'
import { z } from 'zod'
import { describeIssues } from './issues.ts'
import type { JobContext } from './job-context.ts'
import type { Job, KeyLimit } from './job.ts'

export interface JobDefinition<P extends z.ZodType> {
  name: string
  queue: string
  description?: string
  payload: P
  /** How often a run is tried in all, 1 to 1000; 3 when left out. */
  attempts?: number
  /** The waits between attempts; what is left out comes from the default: 1 s doubled up to 60 s, half of it jitter. */
  backoff?: BackoffInput
  /** How long one attempt may take, in ms; 60 s when left out. */
  timeoutMs?: number
  /** What becomes of a run whose worker died; it is made again when left out. */
  onLost?: OnLost
  /** Runs the handler in a thread or process of its own: it may burn CPU, block or crash. */
  isolate?: Isolation
  /** The largest heap of that child, in MiB. */
  memoryMb?: number
  /** At most `limit` runs with the same key at once, over all workers. */
  concurrency?: KeyLimit<z.output<P>>
  /** Keeps runs from starting while most of them fail; what is left out comes from the default. */
  fuse?: Partial<Fuse>
  /** Paths in the payload, such as `customer.id`, whose values the search of the history finds. */
  searchable?: readonly PayloadPath[]
  /** Paths in the payload whose values only the handler sees: not the history, logs, console or Bull Board. */
  redact?: readonly PayloadPath[]
  /** Encrypts payloads and results wherever they lie; needs `JADWAL_ENCRYPTION_KEYS`. */
  encrypt?: boolean
  /** How long the history of its runs is kept; as of all others when left out. */
  retention?: Retention
  handler(payload: z.output<P>, ctx: JobContext): unknown
}

/** A `Backoff` of which everything but its type and waits may be left out. */
export type BackoffInput =
  | Partial<Extract<Backoff, { type: 'exponential' }>>
  | { type: 'fixed'; delayMs: number; jitter?: number }
  | { type: 'list'; delaysMs: number[]; jitter?: number }

/** A job was defined wrongly. The message names every field, its value and what is right. */
export class JobDefinitionError extends Error {
  override name = 'JobDefinitionError'
  readonly code = 'JOB_DEFINITION'
}

const fields = {
  name: JobName,
  queue: QueueName,
  description: z.string().optional(),
  payload: z.custom<z.ZodType>(isSchema, 'must be a zod schema, for example z.object({})'),
  attempts: JobDescription.shape.attempts,
  backoff: Backoff,
  timeoutMs: JobDescription.shape.timeoutMs,
  onLost: OnLost,
  isolate: Isolation.optional(),
  memoryMb: JobDescription.shape.memoryMb,
  concurrency: z
    .strictObject({
      key: z.custom((value) => typeof value === 'function', 'must be a function of the payload'),
      limit: z.int().min(1).max(10_000),
    })
    .optional(),
  fuse: Fuse.optional(),
  searchable: JobDescription.shape.searchable,
  redact: JobDescription.shape.redact,
  encrypt: JobDescription.shape.encrypt,
  retention: JobDescription.shape.retention,
  handler: z.custom((value) => typeof value === 'function', 'must be a function'),
}

/** A field that means nothing is most often a misspelt one. */
const Definition = z
  .strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${issue.keys.join(', ')}: not known: the fields of a job are ${Object.keys(fields).join(', ')}`
        : undefined,
  })
  .refine(({ isolate, memoryMb }) => memoryMb === undefined || isolate !== undefined, {
    path: ['memoryMb'],
    error:
      'goes with isolate only: it is the heap of the thread or process that the handler has then',
  })

/** Defines a job: fills the defaults and checks every field, so that a mistake shows at start and not at the first tick. */
export function defineJob<P extends z.ZodType>(definition: JobDefinition<P>): Job<P> {
  const { fuse, ...given } = definition
  const job: Job<P> = {
    ...given,
    attempts: definition.attempts ?? DEFAULT_ATTEMPTS,
    backoff: backoffOf(definition.backoff),
    timeoutMs: definition.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    onLost: definition.onLost ?? 'retry',
    ...(fuse ? { fuse: { ...DEFAULT_FUSE, ...fuse } } : {}),
  }
  const checked = Definition.safeParse(job)
  if (!checked.success)
    throw new JobDefinitionError(
      `job ${JSON.stringify(job.name)}: ${describeIssues(checked.error.issues, job)}`,
    )
  return job
}

function backoffOf(given: BackoffInput = {}): Backoff {
  if (given.type === 'fixed' || given.type === 'list') return { jitter: DEFAULT_JITTER, ...given }
  return { ...DEFAULT_BACKOFF, ...given }
}

function isSchema(value: unknown): boolean {
  return (
    value !== null &&
    typeof value === 'object' &&
    'safeParse' in value &&
    typeof value.safeParse === 'function'
  )
}
