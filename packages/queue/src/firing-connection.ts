import type { ChainableCommander, Redis } from 'ioredis'
import { type Message, MessageAdder } from './add-messages.ts'
import { leaderConnection, openRedis } from './connections.ts'
import { bullPrefix } from './keys.ts'
import { QueueOpener } from './open-queue.ts'

/**
 * The leader's connection to one queue. Any EXEC ends every WATCH of its connection, so each queue
 * has its own. ioredis forgets a WATCH when it reconnects and says nothing: `closes` counts the
 * times, for whoever is about to EXEC.
 */
export class FiringConnection {
  readonly redis: Redis
  readonly #opener: QueueOpener
  readonly #adder: MessageAdder
  readonly #name: string
  readonly #prefix: string
  closes = 0

  constructor(options: {
    url: string
    prefix: string
    queue: string
    commandTimeoutMs: number
    onError: (error: Error) => void
  }) {
    this.redis = openRedis(leaderConnection(options.url, options.commandTimeoutMs), options.onError)
    this.redis.on('close', () => {
      this.closes += 1
    })
    this.#opener = new QueueOpener(this.redis, options.onError)
    this.#adder = new MessageAdder(this.redis)
    this.#name = options.queue
    this.#prefix = bullPrefix(options.prefix, options.queue)
  }

  /** A MULTI whose first command adds BullMQ messages. What the others find tells which were added. */
  async multi(messages: readonly Message[]): Promise<ChainableCommander> {
    const options = { prefix: this.#prefix, skipMetasUpdate: true }
    return await this.#adder.multi(await this.#opener.open(this.#name, options), messages)
  }

  async close(): Promise<void> {
    await this.#opener.close()
    this.redis.disconnect()
  }
}
