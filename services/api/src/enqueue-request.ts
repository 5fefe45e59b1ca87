import { delayProblem, type JobDescription, runAtProblem } from '@jadwal/domain'
import { clientIdProblem, type EnqueueOptions } from '@jadwal/queue'
import { z } from 'zod'
import { type FieldError, Problem } from './problem.ts'

const DEEPEST = 200

/** What a run is given: anything that JSON can hold, as deep as its readers have stack for. */
export const Payload = z.unknown().refine((payload) => !isDeeperThan(payload, DEEPEST), {
  error: `must not be nested deeper than ${DEEPEST} levels`,
})

/** The body of `POST /api/v1/runs`. */
export const EnqueueRequest = z.strictObject({
  job: z.string('must be the name of a job').max(100, 'must have at most 100 characters'),
  payload: Payload.default({}),
  delayMs: z
    .int('must be a whole number of milliseconds')
    .min(0, 'must not be negative')
    .superRefine((delayMs, ctx) => {
      const problem = delayProblem(delayMs)
      if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem })
    })
    .optional(),
  runAt: z.iso
    .datetime({ offset: true, error: 'must be an instant such as 2026-01-31T08:00:00Z' })
    .transform((text) => new Date(text))
    .optional(),
  priority: z
    .int('must be a whole number')
    .min(0, 'must be 0 (first) to 1000')
    .max(1_000, 'must be 0 (first) to 1000')
    .optional(),
  attempts: z
    .int('must be a whole number')
    .min(1, 'must be 1 to 1000')
    .max(1_000, 'must be 1 to 1000')
    .optional(),
  id: z
    .uuidv7('must be a UUIDv7 of your own making')
    .transform((id) => id.toLowerCase())
    .optional(),
  idempotencyKey: z
    .string('must be a text')
    .min(1, 'must have 1 to 200 characters')
    .max(200, 'must have 1 to 200 characters')
    .optional(),
})
export type EnqueueRequest = z.infer<typeof EnqueueRequest>

/** What the fields say together or at this time, which none of them says alone. Throws a `Problem`. */
export function checkTogether(request: EnqueueRequest, nowMs: number): void {
  const errors = problemsTogether(request, nowMs)
  if (errors.length === 0) return
  const detail = errors.map(({ field, message }) => `${field} ${message}`).join('; ')
  throw new Problem('bad-request', { detail, errors })
}

export function problemsTogether(request: EnqueueRequest, nowMs: number): FieldError[] {
  const errors: FieldError[] = []
  if (request.delayMs !== undefined && request.runAt !== undefined)
    errors.push({ field: 'runAt', message: 'cannot go with delayMs: give one of them' })
  const tooLate = request.runAt && runAtProblem(request.runAt.getTime(), nowMs)
  if (tooLate !== undefined) errors.push({ field: 'runAt', message: tooLate })
  const problem = request.id === undefined ? undefined : clientIdProblem(request.id, nowMs)
  if (problem !== undefined) errors.push({ field: 'id', message: problem })
  return errors
}

/** What a request says of its run beside job and payload. */
export function enqueueOptions(request: EnqueueRequest): EnqueueOptions {
  const { job: _job, payload: _payload, ...options } = request
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** Throws a `Problem` that names the jobs that there are. */
export function findJob(catalogue: readonly JobDescription[], name: string): JobDescription {
  const job = catalogue.find((each) => each.name === name)
  if (job) return job
  const known = catalogue.map((each) => each.name)
  const detail =
    known.length === 0
      ? `No job "${name}": no worker has published its jobs yet. Is one running?`
      : `No job "${name}". Known jobs: ${known.join(', ')}.`
  const errors = [{ field: 'job', message: 'is not known' }]
  throw new Problem('unknown-job', { detail, errors })
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some((each) => isDeeperThan(each, levels - 1))
}
