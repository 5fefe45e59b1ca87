import { isOwedToSecret, JobName, QueueName } from '@jadwal/domain'
import { InvalidRunError } from '@jadwal/queue'
import type * as queue from '@jadwal/queue'
import { z } from 'zod'
import {
  type EnqueueManyOptions,
  EnqueueManyOptionsShape,
  type EnqueueOptions,
  EnqueueOptionsShape,
} from './enqueue-options.ts'
import { describeIssues } from './issues.ts'

export { InvalidRunError }

/** Jobs do not change, so each is looked at once. */
const rightJobs = new WeakSet<object>()

/** Throws an `InvalidRunError` when that is no job, such as `defineJob` returns. */
export function checkJob(job: unknown): void {
  checkIsJob(job)
  if (rightJobs.has(job)) return
  const parsed = SentJob.safeParse(job)
  if (!parsed.success) throw new InvalidRunError(`job: ${describeIssues(parsed.error.issues, job)}`)
  rightJobs.add(job)
}

/** Throws an `InvalidRunError` when that can be no job, not even one that is told by its name. */
export function checkIsJob(job: unknown): asserts job is object {
  if (job === null || typeof job !== 'object')
    throw new InvalidRunError(`job (${shown(job)}): must be what defineJob returned`)
}

/** Throws an `InvalidRunError` when what is to be a list of payloads is none. */
export function checkPayloads(payloads: unknown): void {
  if (!Array.isArray(payloads))
    throw new InvalidRunError(
      `payloads (${shown(payloads)}): must be a list, with one payload for each run`,
    )
}

const SentJob = z.object({
  name: JobName,
  queue: QueueName,
  payload: z.custom(
    (value) => value instanceof Object && 'safeParseAsync' in value,
    'must be a zod schema: send a job that defineJob returned',
  ),
})

function shown(value: unknown): string {
  return value !== null && ['object', 'function'].includes(typeof value)
    ? `a value of type ${typeof value}`
    : String(value)
}

/**
 * Throws an `InvalidRunError` when the payload breaks the job's schema. It is to be sent as given, not
 * as parsed: the worker parses it, and transforms must not act twice.
 */
export async function checkRunPayload(
  job: { name: string; payload: z.ZodType },
  payload: unknown,
): Promise<void> {
  const parsed = await job.payload.safeParseAsync(payload)
  const issues = parsed.error?.issues.filter((issue) => !isOwedToSecret(issue, payload)) ?? []
  if (issues.length > 0)
    throw new InvalidRunError(`payload of ${job.name}: ${describeIssues(issues, payload)}`)
}

/** The options, which are right. Throws an `InvalidRunError` that names each wrong one. */
export function checkEnqueueOptions(
  job: { name: string },
  options: EnqueueOptions,
): queue.EnqueueOptions {
  refuse(job, options, EnqueueOptionsShape.safeParse(options).error?.issues)
  return options
}

/** The options of one run as those of many. Throws an `InvalidRunError` that names each wrong one. */
export function asManyOptions(job: { name: string }, options: EnqueueOptions): EnqueueManyOptions {
  checkEnqueueOptions(job, options)
  const { id, idempotencyKey: key, ...rest } = options
  return {
    ...rest,
    ...(id === undefined ? {} : { ids: [id] }),
    ...(key === undefined ? {} : { idempotencyKeys: [key] }),
  }
}

/** The options of many runs, which are right: what is given for each must be given for each of them. */
export function checkEnqueueManyOptions(
  job: { name: string },
  options: EnqueueManyOptions,
  count: number,
): queue.EnqueueManyOptions {
  refuse(job, options, EnqueueManyOptionsShape.safeParse(options).error?.issues)
  for (const field of ['ids', 'idempotencyKeys'] as const) {
    const given = options[field]?.length ?? count
    if (given !== count)
      throw new InvalidRunError(
        `options of ${job.name}: ${field}: has ${given} for ${count} payloads: must have one for each`,
      )
  }
  return options
}

function refuse(
  job: { name: string },
  options: object,
  issues: readonly z.core.$ZodIssue[] = [],
): void {
  if (issues.length > 0)
    throw new InvalidRunError(`options of ${job.name}: ${describeIssues(issues, options)}`)
}
