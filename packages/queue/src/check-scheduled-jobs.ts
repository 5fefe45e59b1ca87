import { ALERTS_QUEUE, isSecretRef, type JobDescription, valuesAt } from '@jadwal/domain'
import type { PayloadCheck, PayloadProblem } from './payload-check.ts'

/** What a schedule asks for. */
export interface ScheduledJob {
  name: string
  spec: { job: string; payload: Record<string, unknown> }
}

export interface ScheduledJobProblem {
  /** Dotted path, such as `schedules.nightly.payload.to`. */
  field: string
  message: string
  value?: string
  isUnknownJob: boolean
}

/**
 * Checks jobs and payloads of schedules against the jobs that workers have published. Before the first
 * worker ever did, every schedule is fine: it waits for one. What a job redacts may be there as a
 * reference to a secret only: schedules, with all their versions, are kept as they are written.
 */
export function checkScheduledJobs(
  jobs: readonly JobDescription[],
  schedules: readonly ScheduledJob[],
  payloads: PayloadCheck,
): ScheduledJobProblem[] {
  if (jobs.length === 0) return []
  const schedulable = jobs.filter(({ queue }) => queue !== ALERTS_QUEUE)
  const byName = new Map(schedulable.map((job) => [job.name, job]))
  const known = [...byName.keys()].join(', ')
  return schedules.flatMap(({ name, spec }): ScheduledJobProblem[] => {
    const job = byName.get(spec.job)
    if (!job) {
      const message = `no worker serves this job; known are ${known}`
      return [{ field: `schedules.${name}.job`, value: spec.job, message, isUnknownJob: true }]
    }
    return [...payloads.problems(job, spec.payload), ...plainlyRedacted(job, spec.payload)].map(
      ({ field, message }) => ({
        field: `schedules.${name}.${field}`,
        message,
        isUnknownJob: false,
      }),
    )
  })
}

/**
 * The schedules whose job encrypts payloads, and that say something other than references to secrets in
 * theirs: that is kept in clear text with each of their versions.
 */
export function plainlyEncrypted<S extends ScheduledJob>(
  jobs: readonly JobDescription[],
  schedules: readonly S[],
): S[] {
  const encrypting = new Set(jobs.flatMap(({ name, encrypt }) => (encrypt === true ? name : [])))
  return schedules.filter(({ spec }) => encrypting.has(spec.job) && hasPlainText(spec.payload))
}

function plainlyRedacted({ redact = [] }: JobDescription, payload: unknown): PayloadProblem[] {
  return redact
    .filter((path) => valuesAt(payload, [path]).some(hasPlainText))
    .map((path) => ({
      field: `payload.${path}`,
      message:
        'is redacted by its job, and a schedule is kept as it is written: give { "secret": "NAME" }, and the workers JADWAL_SECRET_NAME',
    }))
}

function hasPlainText(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return value !== null && value !== undefined
  return !isSecretRef(value) && Object.values(value).some(hasPlainText)
}
