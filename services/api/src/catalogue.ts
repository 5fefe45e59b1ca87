import type { Clock, JobDescription } from '@jadwal/domain'
import { readCatalogue } from '@jadwal/queue'
import type { Redis } from 'ioredis'

const FRESH_MS = 1_000

/** The jobs that workers have published, read at most once a second as long as the job in question is known. */
export class Catalogue {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #jobs: readonly JobDescription[] = []
  #readAtMs = -Infinity
  #reading: Promise<readonly JobDescription[]> | undefined

  constructor(deps: { redis: Redis; prefix: string; clock: Pick<Clock, 'monotonicMs'> }) {
    this.#redis = deps.redis
    this.#prefix = deps.prefix
    this.#clock = deps.clock
  }

  /** All jobs, at most a second old, and as of now when `job` is not among those. Rejects when Redis is away. */
  async with(job: string): Promise<readonly JobDescription[]> {
    const isFresh = this.#clock.monotonicMs() - this.#readAtMs < FRESH_MS
    if (isFresh && this.#jobs.some(({ name }) => name === job)) return this.#jobs
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return await this.#reading
  }

  async #read(): Promise<readonly JobDescription[]> {
    const atMs = this.#clock.monotonicMs()
    this.#jobs = await readCatalogue(this.#redis, this.#prefix)
    this.#readAtMs = atMs
    return this.#jobs
  }
}
