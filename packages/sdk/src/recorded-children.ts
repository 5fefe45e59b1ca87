import { randomBytes } from 'node:crypto'
import { newRunId, systemClock } from '@jadwal/domain'
import { checkRunPayload } from './check-run.ts'
import type { EnqueueOptions } from './enqueue-options.ts'
import type { AnyJob } from './job.ts'
import type { ChildBatch, ChildOutlet, KnownJob } from './run-children.ts'

/** A run that a handler enqueued, as it would have been sent. */
export interface EnqueuedChild extends EnqueueOptions {
  id: string
  job: string
  /** `default` where the handler named the job alone, and no job of that name was given. */
  queue: string
  payload: unknown
  parentId: string
}

/** Takes the children of a run that is made in a test. */
export class RecordedChildren implements ChildOutlet {
  readonly enqueued: EnqueuedChild[] = []
  readonly #jobs: readonly AnyJob[] | undefined
  /** Those of a job by their ids, and by their keys. */
  readonly #byId = new Map<string, string>()
  readonly #byKey = new Map<string, string>()

  /** Jobs that handlers may send by name; when left out, any. */
  constructor(jobs: readonly AnyJob[] | undefined) {
    this.#jobs = jobs
  }

  async find(name: string): Promise<KnownJob | undefined> {
    if (!this.#jobs) return { queue: 'default', rules: {}, check: async () => {} }
    const job = this.#jobs.find((each) => each.name === name)
    return (
      job && { queue: job.queue, rules: job, check: (payload) => checkRunPayload(job, payload) }
    )
  }

  async send({ job, payloads, options }: ChildBatch): Promise<string[]> {
    const { ids, idempotencyKeys, ...common } = options
    return payloads.map((payload, at) => {
      const idempotencyKey = idempotencyKeys?.[at]
      const ownId = ids?.[at]
      const before =
        (ownId === undefined ? undefined : this.#byId.get(`${job.name} ${ownId}`)) ??
        (idempotencyKey === undefined
          ? undefined
          : this.#byKey.get(`${job.name} ${idempotencyKey}`))
      if (before !== undefined) return before
      const id = ownId ?? newRunId(systemClock.now().getTime(), randomBytes(10))
      this.#byId.set(`${job.name} ${id}`, id)
      if (idempotencyKey !== undefined) this.#byKey.set(`${job.name} ${idempotencyKey}`, id)
      this.enqueued.push({
        ...common,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        id,
        job: job.name,
        queue: job.queue,
        payload: JSON.parse(JSON.stringify(payload ?? null)) as unknown,
      })
      return id
    })
  }
}
