import { setImmediate } from 'node:timers/promises'
import { Job, type JobsOptions } from 'bullmq'
import type { ChainableCommander, Redis } from 'ioredis'
import { leaderConnection, openRedis } from './connections.ts'
import { bullPrefix } from './keys.ts'
import { QueueOpener } from './open-queue.ts'

/** Messages built in one go. */
const SLICE = 100

/** BullMQ's scripts that a run's message may need. */
const ADD_SCRIPTS = /^(addStandardJob|addDelayedJob|addPrioritizedJob):/

/** What BullMQ calls a job. */
export interface Message {
  id: string
  name: string
  data: unknown
  options: JobsOptions
}

/** The parts of BullMQ's Redis backend that its types keep to itself. */
interface Backend {
  client: Promise<{ multi(): ChainableCommander }>
}

/**
 * The leader's connection to one queue. Any EXEC ends every WATCH of its connection, so each queue
 * has its own. ioredis forgets a WATCH when it reconnects and says nothing: `closes` counts the
 * times, for whoever is about to EXEC.
 */
export class FiringConnection {
  readonly redis: Redis
  readonly #opener: QueueOpener
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
    this.#name = options.queue
    this.#prefix = bullPrefix(options.prefix, options.queue)
  }

  /**
   * A MULTI that adds BullMQ messages. It begins by loading BullMQ's add scripts: on a script cache
   * that was flushed a NOSCRIPT would lose that message alone, since MULTI does not roll back.
   */
  async multi(messages: readonly Message[]): Promise<ChainableCommander> {
    const queue = await this.#opener.open(this.#name, {
      prefix: this.#prefix,
      skipMetasUpdate: true,
    })
    const client = await (queue.getBackend() as unknown as Backend).client
    const tx = client.multi()
    for (const lua of this.#addScripts()) tx.script('LOAD', lua)
    for (const [at, { id, name, data, options }] of messages.entries()) {
      const job = new Job(queue, name, data, options, id)
      await job.addJob(tx as unknown as Parameters<typeof job.addJob>[0], {})
      // The lease is renewed meanwhile, however slow the machine is.
      if (at % SLICE === SLICE - 1) await setImmediate()
    }
    return tx
  }

  async close(): Promise<void> {
    await this.#opener.close()
    this.redis.disconnect()
  }

  #addScripts(): string[] {
    const set = (this.redis as unknown as { scriptsSet: Record<string, { lua: string }> })
      .scriptsSet
    const scripts = Object.entries(set).filter(([name]) => ADD_SCRIPTS.test(name))
    if (scripts.length !== 3)
      throw new Error('BullMQ defines other add scripts than the firing knows')
    return scripts.map(([, { lua }]) => lua)
  }
}
