import type { AttemptView, RunView } from '@jadwal/db'
import {
  type Clock,
  ENCRYPTED,
  isAtLeast,
  isEnvelope,
  type JobDescription,
  type LogLine,
  REDACTED,
  redactPayload,
  type RunError,
} from '@jadwal/domain'
import { openedValue, Patience, type PayloadCipher, type Sealed } from '@jadwal/queue'
import type { Response } from 'express'
import type { Redis } from 'ioredis'
import { callerOf } from './caller.ts'
import { Catalogue } from './catalogue.ts'
import { type Mask, maskAll, maskOf } from './mask-texts.ts'

export interface ShownRunsDeps {
  redis: Redis
  prefix: string
  clock: Clock
  /** Opens what is encrypted; without it, nobody sees it. */
  cipher?: PayloadCipher | undefined
}

type Jobs = ReadonlyMap<string, JobDescription>

/**
 * What of a run somebody is shown. What its job redacts or encrypts by now is hidden, also in rows that
 * are older than that. What is encrypted is opened for operators and admins; others see that it is.
 */
export class ShownRuns {
  readonly #catalogue: Catalogue
  readonly #patience: Patience
  readonly #cipher: PayloadCipher | undefined
  /** Undefined until they could be read once. */
  #jobs: Jobs | undefined

  constructor(deps: ShownRunsDeps) {
    this.#catalogue = new Catalogue(deps)
    this.#patience = new Patience(deps.redis)
    this.#cipher = deps.cipher
  }

  /** The runs as whom `res` answers may see them. */
  async forCaller<V extends RunView>(res: Response, views: readonly V[]): Promise<V[]> {
    const mayOpen = isAtLeast(callerOf(res).role, 'operator')
    const jobs = await this.#newestJobs(views)
    return views.map((view) => this.#shown(view, jobs, mayOpen))
  }

  async oneForCaller<V extends RunView>(res: Response, view: V): Promise<V> {
    const [shown = view] = await this.forCaller(res, [view])
    return shown
  }

  /** While Redis is away what was known last holds; undefined when nothing is known yet. */
  async #newestJobs(views: readonly RunView[]): Promise<Jobs | undefined> {
    if (views.length === 0) return this.#jobs
    try {
      const jobs = await this.#patience.for(this.#catalogue.with([]))
      if (jobs.length > 0 || !this.#jobs) this.#jobs = new Map(jobs.map((job) => [job.name, job]))
    } catch {
      return this.#jobs
    }
    return this.#jobs
  }

  #shown<V extends RunView>(view: V, jobs: Jobs | undefined, mayOpen: boolean): V {
    const job = jobs?.get(view.job)
    const { result, progress, error } = view
    const read = (what: Sealed['what'], value: unknown): unknown =>
      openedValue(value, { what, job: view.job, id: view.id }, this.#cipher)
    const payload = read('payload', view.payload)
    // Until jobs could be read, all may be secret: a row may be older than what its job says.
    const mask = jobs === undefined ? maskAll : maskOf(payload, job ?? {})
    const isFor = (value: unknown): boolean => mayOpen || !(isEnvelope(value) || job?.encrypt)
    const left = (what: 'result' | 'progress', value: unknown): unknown =>
      value === null || isFor(value) ? mask(read(what, value)) : ENCRYPTED
    return {
      ...view,
      payload: isFor(view.payload) ? shownPayload(view, { payload, job, jobs }) : ENCRYPTED,
      ...(result === undefined ? {} : { result: left('result', result) }),
      ...(progress === undefined ? {} : { progress: left('progress', progress) }),
      ...(error === undefined ? {} : { error: maskedError(error, mask) }),
      attempts: view.attempts.map((attempt) => maskedAttempt(attempt, mask)),
    }
  }
}

/** What its job redacts is in what was encrypted; of a job that is not known that may be all of it. */
function shownPayload(
  view: RunView,
  {
    payload,
    job,
    jobs,
  }: { payload: unknown; job: JobDescription | undefined; jobs: Jobs | undefined },
): unknown {
  const isUnknown = !job && (isEnvelope(view.payload) || jobs === undefined)
  return isUnknown ? REDACTED : redactPayload(payload, job?.redact ?? [])
}

function maskedAttempt(attempt: AttemptView, mask: Mask): AttemptView {
  const { error, log } = attempt
  return {
    ...attempt,
    ...(error === undefined ? {} : { error: maskedError(error, mask) }),
    ...(log === undefined ? {} : { log: log.map((line) => maskedLine(line, mask)) }),
  }
}

/** Its name stays: it is found by that, and nobody puts a value there. */
function maskedError(error: RunError, mask: Mask): RunError {
  const { message, stack } = error
  return {
    ...error,
    message: mask(message),
    ...(stack === undefined ? {} : { stack: mask(stack) }),
  }
}

function maskedLine(line: LogLine, mask: Mask): LogLine {
  const { message, facts } = line
  return { ...line, message: mask(message), ...(facts === undefined ? {} : { facts: mask(facts) }) }
}
