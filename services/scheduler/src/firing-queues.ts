import { FiringQueue, registerQueues, redisReady } from '@jadwal/queue'
import type { Redis } from 'ioredis'

/** How long a reign waits for a queue's connection before it tries again. */
const READY_WITHIN_MS = 2_000

export interface FiringQueuesOptions {
  url: string
  prefix: string
  commandTimeoutMs: number
  onError: (error: Error) => void
}

/** The leader's connections to its target queues, opened when first needed and kept warm by standbys. */
export class FiringQueues {
  readonly #options: FiringQueuesOptions
  readonly #redis: Redis
  readonly #open = new Map<string, FiringQueue>()

  /** `redis` is the connection for everything but firing. */
  constructor(redis: Redis, options: FiringQueuesOptions) {
    this.#redis = redis
    this.#options = options
  }

  /** Opens connections ahead of need. */
  warm(names: Iterable<string>): void {
    for (const name of names) this.#get(name)
  }

  names(): string[] {
    return [...this.#open.keys()]
  }

  /** The connection to a queue, ready for commands, and the queue known to recorder and api. */
  async ready(name: string): Promise<FiringQueue> {
    const known = this.#open.has(name)
    const queue = this.#get(name)
    await redisReady(queue.redis, READY_WITHIN_MS)
    if (!known) await registerQueues(this.#redis, this.#options.prefix, [name])
    return queue
  }

  /** Grows whenever any connection was lost: what was read before can no longer be relied on. */
  get closes(): number {
    return [...this.#open.values()].reduce((sum, queue) => sum + queue.closes, 0)
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map((queue) => queue.close()))
  }

  #get(name: string): FiringQueue {
    const known = this.#open.get(name)
    if (known) return known
    const queue = new FiringQueue({ ...this.#options, queue: name })
    this.#open.set(name, queue)
    return queue
  }
}
