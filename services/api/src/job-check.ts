import { ALERTS_QUEUE, type Clock, type JobDescription } from '@jadwal/domain'
import { Patience, PayloadCheck } from '@jadwal/queue'
import type { Redis } from 'ioredis'
import { askRedis } from './ask.ts'
import { Catalogue } from './catalogue.ts'
import { findJob } from './enqueue-request.ts'
import { type FieldError, Problem } from './problem.ts'

/** Looks whether there is a job, and whether a payload is one for it. */
export class JobCheck {
  readonly #catalogue: Catalogue
  readonly #payloads = new PayloadCheck()
  readonly #patience: Patience

  constructor(deps: { redis: Redis; prefix: string; clock: Pick<Clock, 'monotonicMs'> }) {
    this.#catalogue = new Catalogue(deps)
    this.#patience = new Patience(deps.redis)
  }

  /** The job of that name. Throws a `Problem` when there is none, or the payload does not fit it. */
  async accept(name: string, payload: unknown): Promise<JobDescription> {
    const job = findJob(await this.jobsWith([name]), name)
    const errors = this.problems(job, payload)
    if (errors.length > 0) throw invalidPayload(job.name, errors)
    return job
  }

  /** The jobs that may be enqueued, which those of alerts may not; of them the named ones may be new. */
  async jobsWith(names: Iterable<string>): Promise<readonly JobDescription[]> {
    const jobs = await askRedis(() => this.#patience.for(this.#catalogue.with(names)))
    return jobs.filter(({ queue }) => queue !== ALERTS_QUEUE)
  }

  /** The fields of a payload that do not fit the job. */
  problems(job: JobDescription, payload: unknown): FieldError[] {
    return this.#payloads.problems(job, payload)
  }
}

export function invalidPayload(job: string, errors: readonly FieldError[]): Problem {
  const said = errors.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new Problem('invalid-payload', {
    detail: `The payload does not fit ${job}: ${said}`,
    errors,
  })
}
