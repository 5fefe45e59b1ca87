import type { Clock, JobDescription } from '@jadwal/domain'
import {
  createProducer,
  PayloadCheck,
  type PayloadCipher,
  payloadHash,
  type Producer,
} from '@jadwal/queue'
import { type AnyJob, InvalidRunError } from '@jadwal/sdk'
import {
  type ChildBatch,
  type ChildOutlet,
  checkRunPayload,
  type KnownJob,
} from '@jadwal/sdk/attempts'

export interface ChildRunsDeps {
  url: string
  prefix: string
  /** The jobs that this worker knows the code of. */
  jobs: readonly AnyJob[]
  /** Looks a job up in what all workers have published. */
  findJob: (name: string) => Promise<JobDescription | undefined>
  clock: Clock
  onError: (error: Error) => void
  /** The largest payload of a child, in bytes as JSON; 512 KiB when left out. */
  maxPayloadBytes?: number
  /** Encrypts the payloads of children whose jobs ask for it. */
  cipher?: PayloadCipher | undefined
}

/**
 * Enqueues what handlers enqueue. The connection is made for the first of them, as most workers have
 * none, and is one of a producer: a handler hears within a second that Redis is away.
 */
export class ChildRuns implements ChildOutlet {
  readonly #deps: ChildRunsDeps
  readonly #payloads = new PayloadCheck()
  #producer: Producer | undefined

  constructor(deps: ChildRunsDeps) {
    this.#deps = deps
  }

  async find(name: string): Promise<KnownJob | undefined> {
    const own = this.#deps.jobs.find((job) => job.name === name)
    if (own)
      return { queue: own.queue, rules: own, check: (payload) => checkRunPayload(own, payload) }
    const published = await this.#deps.findJob(name)
    return (
      published && {
        queue: published.queue,
        rules: published,
        check: (payload) => this.#check(published, payload),
      }
    )
  }

  async send({ job, payloads, options }: ChildBatch): Promise<string[]> {
    const { url, prefix, clock, onError, maxPayloadBytes, cipher } = this.#deps
    this.#producer ??= createProducer({ url, prefix, clock, onError, maxPayloadBytes, cipher })
    return await this.#producer.enqueueMany(job, payloads, options)
  }

  hash({ name, encrypt }: ChildBatch['job'], payload: unknown): string {
    const { cipher } = this.#deps
    return encrypt && cipher ? cipher.hash(name, payload) : payloadHash(name, payload)
  }

  /** To be called when no attempt is in hand. */
  async close(): Promise<void> {
    await this.#producer?.close()
  }

  async #check(job: JobDescription, payload: unknown): Promise<void> {
    const problems = this.#payloads
      .problems(job, payload)
      .map(({ field, message }) => `${field} ${message}`)
    if (problems.length > 0)
      throw new InvalidRunError(`payload of ${job.name}: ${problems.join('; ')}`)
  }
}
