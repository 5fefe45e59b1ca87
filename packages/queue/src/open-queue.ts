import { Queue, type QueueOptions } from 'bullmq'
import type { Redis } from 'ioredis'
import { redisReady } from './connections.ts'

/** How long the opening of a queue waits for its connection. */
const READY_WITHIN_MS = 1_000

/**
 * Opens BullMQ queues on a connection that does not wait when Redis is away. BullMQ asks for Redis'
 * version once, at construction, and a queue whose question failed is of no use for ever: so a queue
 * is made when the connection is ready, and made again when it failed.
 */
export class QueueOpener {
  readonly #redis: Redis
  readonly #onError: (error: Error) => void
  readonly #queues = new Map<string, Promise<Queue>>()

  constructor(redis: Redis, onError: (error: Error) => void) {
    this.#redis = redis
    this.#onError = onError
  }

  /** The queue of that name, opened when it is first asked for. */
  async open(name: string, options: Omit<QueueOptions, 'connection'>): Promise<Queue> {
    const known = this.#queues.get(name)
    if (known) return await known
    const opening = this.#open(name, options)
    this.#queues.set(name, opening)
    opening.catch(() => this.#queues.delete(name))
    return await opening
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#queues.values())
    const open = opened.flatMap((queue) => (queue.status === 'fulfilled' ? [queue.value] : []))
    await Promise.allSettled(open.map((queue) => queue.close()))
  }

  async #open(name: string, options: Omit<QueueOptions, 'connection'>): Promise<Queue> {
    await redisReady(this.#redis, READY_WITHIN_MS)
    const queue = new Queue(name, {
      ...options,
      connection: this.#redis,
      skipWaitingForReady: true,
    })
    queue.on('error', this.#onError)
    await queue.waitUntilReady()
    return queue
  }
}
