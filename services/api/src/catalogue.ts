import type { Clock, JobDescription } from '@jadwal/domain'
import { readCatalogue } from '@jadwal/queue'
import type { Redis } from 'ioredis'

const FRESH_MS = 1_000

/** The jobs that workers have published, read at most once a second as long as the jobs in question are known. */
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

  /** All jobs, at most a second old, and as of now when one of `names` is not among those. Rejects when Redis is away. */
  async with(names: Iterable<string>): Promise<readonly JobDescription[]> {
    const isFresh = this.#clock.monotonicMs() - this.#readAtMs < FRESH_MS
    if (isFresh && this.#haveAll(names)) return this.#jobs
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return await this.#reading
  }

  #haveAll(names: Iterable<string>): boolean {
    const known = new Set(this.#jobs.map(({ name }) => name))
    for (const name of names) if (!known.has(name)) return false
    return true
  }

  async #read(): Promise<readonly JobDescription[]> {
    const atMs = this.#clock.monotonicMs()
    this.#jobs = await readCatalogue(this.#redis, this.#prefix)
    this.#readAtMs = atMs
    return this.#jobs
  }
}
