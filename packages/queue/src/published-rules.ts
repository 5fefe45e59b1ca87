import { type Clock, mergedRules, type PayloadRules } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { findJob } from './registry.ts'
import type { RunRequest } from './run-draft.ts'

const FRESH_MS = 5_000

interface Known {
  rules: PayloadRules | undefined
  readAtMs: number
}

/**
 * What the jobs that a producer sends say of their payloads by now: workers may have newer definitions
 * than an app. Each job is looked up before its first run, and again behind later ones.
 */
export class PublishedRules {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #known = new Map<string, Known>()

  constructor(redis: Redis, prefix: string, clock: Pick<Clock, 'monotonicMs'>) {
    this.#redis = redis
    this.#prefix = prefix
    this.#clock = clock
  }

  /** Whether something has to be asked before these runs can be sent. */
  isNew(requests: readonly RunRequest[]): boolean {
    return requests.some(({ job }) => !this.#known.has(job.name))
  }

  async learn(requests: readonly RunRequest[]): Promise<void> {
    const names = new Set(requests.map(({ job }) => job.name))
    await Promise.all([...names].map((name) => this.#read(name)))
  }

  /** The request with what its job says by its own definition and by the published one. */
  applied(request: RunRequest): RunRequest {
    const { job } = request
    const known = this.#known.get(job.name)
    if (known && this.#clock.monotonicMs() - known.readAtMs > FRESH_MS) {
      known.readAtMs = this.#clock.monotonicMs()
      // What is known holds where nothing newer can be read.
      this.#read(job.name).catch(() => undefined)
    }
    return known?.rules
      ? { ...request, job: { ...job, ...mergedRules(job, known.rules) } }
      : request
  }

  async #read(name: string): Promise<void> {
    const job = await findJob(this.#redis, this.#prefix, name)
    const before = this.#known.get(name)
    const rules = job && hasRules(job) ? job : undefined
    const readAtMs = this.#clock.monotonicMs()
    // A Redis that lost its data has no catalogue until the workers publish it again.
    this.#known.set(name, { rules: job ? rules : before?.rules, readAtMs })
  }
}

function hasRules({ searchable, redact, encrypt }: PayloadRules): boolean {
  return searchable !== undefined || redact !== undefined || encrypt === true
}
