import type { JobDescription } from '@jadwal/domain'
import type { RunRequest } from '@jadwal/queue'
import { z } from 'zod'
import type { ApiDeps } from './api-deps.ts'
import { enqueueOptions, EnqueueRequest, problemsTogether } from './enqueue-request.ts'
import { inSlices } from './in-slices.ts'
import type { JobCheck } from './job-check.ts'
import { type FieldError, Problem, type ProblemKind } from './problem.ts'
import { fieldErrors, parseRequest } from './zod-problem.ts'

const MOST_RUNS = 10_000
/** Who reads them mends them a few at a time. */
const MOST_ERRORS = 20

const Batch = z.strictObject({
  runs: z
    .array(z.unknown(), 'must be a list of runs')
    .min(1, 'must have at least one run')
    .max(MOST_RUNS, `must have at most ${MOST_RUNS} runs`),
})

/** The runs of a batch, all of which are right. Throws a `Problem` that names the fields of those that are not. */
export async function acceptBatch(
  { clock }: Pick<ApiDeps, 'clock'>,
  jobs: JobCheck,
  body: unknown,
): Promise<RunRequest[]> {
  const { runs } = parseRequest(Batch, body, 'body')
  const requests = await inSlices(parseRuns(runs, clock.now().getTime()), clock)
  const all = await jobs.jobsWith(new Set(requests.map(({ job }) => job)))
  const known = new Map(all.map((job) => [job.name, job]))
  return await inSlices(checkJobs(requests, known, jobs), clock)
}

function* parseRuns(
  runs: readonly unknown[],
  nowMs: number,
): Generator<undefined, EnqueueRequest[]> {
  const requests: EnqueueRequest[] = []
  const errors = new BatchErrors()
  for (const [index, run] of runs.entries()) {
    const { data, error } = EnqueueRequest.safeParse(run)
    errors.add(index, error?.issues.flatMap(fieldErrors) ?? [])
    if (data) {
      errors.add(index, problemsTogether(data, nowMs))
      requests.push(data)
    }
    yield
  }
  errors.throwIfAny('bad-request')
  return requests
}

function* checkJobs(
  requests: readonly EnqueueRequest[],
  known: ReadonlyMap<string, JobDescription>,
  jobs: JobCheck,
): Generator<undefined, RunRequest[]> {
  const errors = new BatchErrors()
  const accepted: RunRequest[] = []
  let isUnknown = false
  for (const [index, request] of requests.entries()) {
    const job = known.get(request.job)
    if (job) {
      errors.add(index, jobs.problems(job, request.payload))
      accepted.push({ job, payload: request.payload, options: enqueueOptions(request) })
    } else {
      isUnknown = true
      errors.add(index, [{ field: 'job', message: 'is not known', value: request.job }])
    }
    yield
  }
  errors.throwIfAny(isUnknown ? 'unknown-job' : 'invalid-payload')
  return accepted
}

/** The fields that are wrong, by the place of their run. */
class BatchErrors {
  readonly #errors: FieldError[] = []
  #more = 0

  add(index: number, errors: readonly FieldError[]): void {
    for (const { field, ...rest } of errors) {
      if (this.#errors.length === MOST_ERRORS) this.#more += 1
      else {
        const own = field === 'body' ? '' : `.${field}`
        this.#errors.push({ field: `runs[${index}]${own}`, ...rest })
      }
    }
  }

  /** None of the runs is enqueued then. */
  throwIfAny(kind: ProblemKind): void {
    if (this.#errors.length === 0) return
    const said = this.#errors.map(({ field, message }) => `${field} ${message}`).join('; ')
    const more = this.#more === 0 ? '' : `; and ${this.#more} more`
    throw new Problem(kind, {
      detail: `No run was enqueued: ${said}${more}`,
      errors: this.#errors,
    })
  }
}
