import { JobName, mergedRules, type PayloadRules, QueueName, redactPayload } from '@jadwal/domain'
import {
  type EnqueueManyOptions as QueueOptions,
  payloadHash,
  type RunRequest,
} from '@jadwal/queue'
import type { z } from 'zod'
import {
  checkEnqueueManyOptions,
  checkIsJob,
  checkJob,
  checkPayloads,
  checkRunPayload,
  InvalidRunError,
} from './check-run.ts'
import type { EnqueueManyOptions } from './enqueue-options.ts'
import type { NamedJob, TypedJob } from './job-context.ts'

/** What is known of a job that is sent by its name. */
export interface KnownJob {
  queue: string
  /** What it says of its payloads. */
  rules: PayloadRules
  /** Rejects with an `InvalidRunError` when the payload breaks the job's schema. */
  check(payload: unknown): Promise<void>
}

/** Runs of one job that a handler enqueues. */
export interface ChildBatch {
  job: RunRequest['job']
  payloads: readonly unknown[]
  /** Those of the handler, or the keys of its own making. */
  options: QueueOptions & { parentId: string }
}

/** Where the children of runs go. */
export interface ChildOutlet {
  /** Undefined when no worker has published a job of that name. */
  find(name: string): Promise<KnownJob | undefined>
  /** Enqueues them and returns their ids. */
  send(batch: ChildBatch): Promise<string[]>
  /** As `payloadHash`; of an encrypted payload one that nobody can guess it by. */
  hash?(job: RunRequest['job'], payload: unknown): string
}

/** Of equal children; no number below `from` is free. */
interface Numbers {
  taken: Set<number>
  from: number
}

/**
 * The children that one attempt enqueues. A later attempt that enqueues the same gives the same
 * children: each has an idempotency key made of its parent, its payload and a number, which tells
 * apart what one attempt enqueues several times. A number whose call failed is free again.
 */
export class RunChildren {
  readonly #parentId: string
  readonly #outlet: ChildOutlet
  readonly #numbers = new Map<string, Numbers>()

  constructor(parentId: string, outlet: ChildOutlet) {
    this.#parentId = parentId
    this.#outlet = outlet
  }

  async enqueueMany(
    job: TypedJob<z.ZodType> | NamedJob,
    payloads: readonly unknown[],
    options: EnqueueManyOptions,
  ): Promise<string[]> {
    checkIsJob(job)
    checkPayloads(payloads)
    const checked = checkEnqueueManyOptions(job, options, payloads.length)
    const hasOwn = checked.ids !== undefined || checked.idempotencyKeys !== undefined
    const known = await this.#known(job)
    const numbered = hasOwn ? [] : payloads.map((payload) => this.#number(known.job, payload))
    const keys = hasOwn ? {} : { idempotencyKeys: numbered.map(({ key }) => key) }
    try {
      await Promise.all(payloads.map((payload) => known.check(payload)))
      return await this.#outlet.send({
        job: known.job,
        payloads,
        options: { ...checked, ...keys, parentId: this.#parentId },
      })
    } catch (error) {
      for (const { free } of numbered) free()
      throw error
    }
  }

  /** The job as its runs are sent. Of one that nobody has published nothing is known but its name. */
  async #known(
    job: TypedJob<z.ZodType> | NamedJob,
  ): Promise<{ job: RunRequest['job']; check: KnownJob['check'] }> {
    if (job.payload) {
      const typed: TypedJob<z.ZodType> = job
      checkJob(typed)
      const { name, queue } = typed
      return {
        job: { ...rulesIn(typed), name, queue },
        check: (payload) => checkRunPayload(typed, payload),
      }
    }
    checkName('name', JobName.safeParse(job.name), job.name)
    if (job.queue !== undefined) checkName('queue', QueueName.safeParse(job.queue), job.queue)
    const known = await this.#outlet.find(job.name)
    const queue = job.queue ?? known?.queue
    if (queue === undefined)
      throw new InvalidRunError(
        `job (${JSON.stringify(job.name)}): no worker has published it: check the name, or give its queue too`,
      )
    const { name } = job
    if (!known)
      return { job: { ...rulesIn(job), name, queue, isUnknown: true }, check: async () => {} }
    const rules = mergedRules(rulesIn(job), known.rules)
    return { job: { ...rules, name, queue }, check: (payload) => known.check(payload) }
  }

  /** The key is in the history, and may not tell what is redacted there. */
  #number(job: RunRequest['job'], payload: unknown): { key: string; free: () => void } {
    const told = job.redact ? redactPayload(payload, job.redact) : payload
    const hash = this.#outlet.hash?.(job, told) ?? payloadHash(job.name, told)
    const what = hash.slice(0, 12)
    const numbers = this.#numbers.get(what) ?? { taken: new Set<number>(), from: 0 }
    this.#numbers.set(what, numbers)
    let number = numbers.from
    while (numbers.taken.has(number)) number += 1
    numbers.taken.add(number)
    numbers.from = number + 1
    return {
      key: `child:${this.#parentId}:${what}:${number}`,
      free: () => {
        numbers.taken.delete(number)
        numbers.from = Math.min(numbers.from, number)
      },
    }
  }
}

/** What the definition of a job says of its payloads; of one that is sent by its name alone, nothing. */
function rulesIn({ searchable, redact, encrypt }: PayloadRules): PayloadRules {
  return { searchable, redact, encrypt }
}

function checkName(field: string, result: z.ZodSafeParseResult<string>, value: string): void {
  const problem = result.error?.issues[0]?.message
  if (problem !== undefined)
    throw new InvalidRunError(`job: ${field} (${JSON.stringify(value)}): ${problem}`)
}
