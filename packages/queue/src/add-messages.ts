import { setImmediate } from 'node:timers/promises'
import type { JobsOptions, Queue } from 'bullmq'
import type { ChainableCommander, Redis } from 'ioredis'
import { addScript } from './add-script.ts'
import { type BullScripts, bullScripts, TemplateList } from './bull-scripts.ts'
import { fitsTemplate } from './message-template.ts'

/** Messages built in one go. */
const SLICE = 500

/** What BullMQ calls a job. */
export interface Message {
  id: string
  name: string
  data: unknown
  options: JobsOptions
}

/** Begins MULTIs that add BullMQ messages, on one connection. */
export class MessageAdder {
  readonly #redis: Redis
  #scripts: { script: string; numbers: BullScripts['numbers'] } | undefined

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /**
   * A MULTI whose first command adds messages to a queue, which must have been opened on this
   * connection. What the other commands find tells which were added.
   */
  async multi(queue: Queue, messages: readonly Message[]): Promise<ChainableCommander> {
    const tx = this.#redis.multi()
    if (messages.length === 0) return tx
    const { script, numbers } = this.#addScripts()
    const templates = new TemplateList(queue, numbers)
    const args: (string | number)[] = []
    for (const [at, { id, name, data, options }] of messages.entries()) {
      if (!fitsTemplate(id)) throw new Error(`${id} is no id of a run`)
      const template = templates.known(name, options) ?? (await templates.make(name, options))
      args.push(template, id, JSON.stringify(data))
      // The lease is renewed meanwhile, however slow the machine is.
      if (at % SLICE === SLICE - 1) await setImmediate()
    }
    // The whole text, not its hash: a script cache that was flushed would lose the messages alone,
    // since MULTI does not roll back.
    tx.eval(script, 1, queue.toKey(''), templates.toJson(), ...args)
    return tx
  }

  #addScripts(): { script: string; numbers: BullScripts['numbers'] } {
    if (this.#scripts) return this.#scripts
    const { texts, numbers } = bullScripts(this.#redis)
    this.#scripts = { script: addScript(texts), numbers }
    return this.#scripts
  }
}
