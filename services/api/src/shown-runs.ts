import type { RunView } from '@jadwal/db'
import {
  type Clock,
  ENCRYPTED,
  isAtLeast,
  isEnvelope,
  type JobDescription,
  REDACTED,
  redactPayload,
} from '@jadwal/domain'
import { openedValue, Patience, type PayloadCipher, type Sealed } from '@jadwal/queue'
import type { Response } from 'express'
import type { Redis } from 'ioredis'
import { callerOf } from './caller.ts'
import { Catalogue } from './catalogue.ts'
import { type Mask, maskOf } from './mask-texts.ts'

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
    const open = (what: Sealed['what'], value: unknown): unknown => {
      if (!isEnvelope(value)) return value
      return mayOpen
        ? openedValue(value, { what, job: view.job, id: view.id }, this.#cipher)
        : ENCRYPTED
    }
    const opened = open('payload', view.payload)
    // What its job redacts is in what was encrypted; of a job that is not known that may be all of it.
    // Until jobs could be read, that holds for what is not encrypted too: its row may be older than `redact`.
    const isUnknown = !job && (isEnvelope(view.payload) || jobs === undefined)
    const isHidden = isUnknown && opened !== ENCRYPTED
    const isForFew = job?.encrypt === true && !mayOpen
    const isClear = isForFew && !isEnvelope(view.payload)
    const mask = maskOf(opened, job ?? {})
    const shown = (what: 'result' | 'progress'): Partial<RunView> => {
      const value = view[what]
      if (value === undefined) return {}
      return { [what]: isForFew && value !== null ? ENCRYPTED : mask(open(what, value)) }
    }
    return {
      ...view,
      payload: isHidden ? REDACTED : isClear ? ENCRYPTED : redactPayload(opened, job?.redact ?? []),
      ...shown('result'),
      ...shown('progress'),
      ...(view.error === undefined ? {} : { error: masked(view.error, mask) }),
      attempts: view.attempts.map((attempt) => ({
        ...attempt,
        ...(attempt.error === undefined ? {} : { error: masked(attempt.error, mask) }),
        ...(attempt.log === undefined
          ? {}
          : { log: attempt.log.map((line) => masked(line, mask)) }),
      })),
    }
  }
}

/** The fields keep their names, whatever the texts to be hidden are. */
function masked<T extends object>(fields: T, mask: Mask): T {
  const values = Object.entries(fields).map(([name, value]) => [name, mask(value)])
  return Object.fromEntries(values) as T
}
