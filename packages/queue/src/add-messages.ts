import { setImmediate } from 'node:timers/promises'
import type { JobsOptions, Queue } from 'bullmq'
import type { ChainableCommander, Redis } from 'ioredis'
import { addScript } from './add-script.ts'
import { fitsTemplate, type MessageTemplate, messageTemplate } from './message-template.ts'

/** Messages built in one go. */
const SLICE = 500

/** BullMQ's scripts that a run's message may need. */
const ADD_SCRIPTS = /^(addStandardJob|addDelayedJob|addPrioritizedJob):/

/** What BullMQ calls a job. */
export interface Message {
  id: string
  name: string
  data: unknown
  options: JobsOptions
}

interface AddScripts {
  /** That adds many messages. */
  script: string
  /** Of BullMQ's scripts in it, by their names. */
  numbers: ReadonlyMap<string, number>
}

/** Begins MULTIs that add BullMQ messages, on one connection. */
export class MessageAdder {
  readonly #redis: Redis
  #scripts: AddScripts | undefined

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
    const templates = new Map<string, number>()
    const built: unknown[] = []
    const args: (string | number)[] = []
    for (const [at, { id, name, data, options }] of messages.entries()) {
      const kind = `${name} ${JSON.stringify(options)}`
      let template = templates.get(kind)
      if (template === undefined) {
        built.push(templateArgument(await messageTemplate(queue, name, options), numbers))
        template = built.length
        templates.set(kind, template)
      }
      if (!fitsTemplate(id)) throw new Error(`${id} is no id of a run`)
      args.push(template, id, JSON.stringify(data))
      // The lease is renewed meanwhile, however slow the machine is.
      if (at % SLICE === SLICE - 1) await setImmediate()
    }
    // The whole text, not its hash: a script cache that was flushed would lose the messages alone,
    // since MULTI does not roll back.
    tx.eval(script, 1, queue.toKey(''), JSON.stringify(built), ...args)
    return tx
  }

  /** BullMQ defines its scripts on a connection when it opens a queue there. */
  #addScripts(): AddScripts {
    if (this.#scripts) return this.#scripts
    const set = (this.#redis as unknown as { scriptsSet: Record<string, { lua: string }> })
      .scriptsSet
    const scripts = Object.entries(set).filter(([name]) => ADD_SCRIPTS.test(name))
    if (scripts.length !== 3)
      throw new Error('BullMQ defines other add scripts than the firing knows')
    this.#scripts = {
      script: addScript(scripts.map(([, { lua }]) => lua)),
      numbers: new Map(scripts.map(([name], at) => [name.replace(/:.*/, ''), at + 1])),
    }
    return this.#scripts
  }
}

function templateArgument(template: MessageTemplate, numbers: AddScripts['numbers']): unknown[] {
  const { script, keys, beforeId, afterId, options } = template
  const hex = [beforeId, afterId, options].map((bytes) => bytes.toString('hex'))
  return [numbers.get(script), keys, ...hex]
}
