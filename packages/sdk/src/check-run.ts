import { isOwedToSecret } from '@jadwal/domain'
import type * as queue from '@jadwal/queue'
import type { z } from 'zod'
import {
  type EnqueueManyOptions,
  EnqueueManyOptionsShape,
  type EnqueueOptions,
  EnqueueOptionsShape,
} from './enqueue-options.ts'
import { describeIssues } from './issues.ts'

/** A payload breaks its job's schema, or an option its range. The message names each place, its value and what is right. */
export class InvalidRunError extends Error {
  override name = 'InvalidRunError'
  readonly code = 'INVALID_RUN'
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
