import type { JobsOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { type MessageTemplate, messageTemplate } from './message-template.ts'

/** BullMQ's scripts that a run's message may need. */
const ADD_SCRIPTS = /^(addStandardJob|addDelayedJob|addPrioritizedJob):/

export interface BullScripts {
  /** Their texts. */
  texts: readonly string[]
  /** Their places among the texts, from 1, by their names. */
  numbers: ReadonlyMap<string, number>
}

/** BullMQ's scripts that add messages. It defines them on a connection when it opens a queue there. */
export function bullScripts(redis: Redis): BullScripts {
  const set = (redis as unknown as { scriptsSet: Record<string, { lua: string }> }).scriptsSet
  const scripts = Object.entries(set).filter(([name]) => ADD_SCRIPTS.test(name))
  if (scripts.length !== 3) throw new Error('BullMQ defines other add scripts than are known here')
  return {
    texts: scripts.map(([, { lua }]) => lua),
    numbers: new Map(scripts.map(([name], at) => [name.replace(/:.*/, ''), at + 1])),
  }
}

/** The templates of the messages that one call of a script adds to a queue. */
export class TemplateList {
  readonly #queue: Queue
  readonly #numbers: BullScripts['numbers']
  readonly #known = new Map<string, number>()
  readonly #built: unknown[] = []

  constructor(queue: Queue, numbers: BullScripts['numbers']) {
    this.#queue = queue
    this.#numbers = numbers
  }

  /** The number, from 1, of the template for messages of that name and options, if it is there. */
  known(name: string, options: JobsOptions): number | undefined {
    return this.#known.get(kindOf(name, options))
  }

  /** Makes it. */
  async make(name: string, options: JobsOptions): Promise<number> {
    const template = await messageTemplate(this.#queue, name, options)
    const number = this.#built.push(templateArgument(template, this.#numbers))
    this.#known.set(kindOf(name, options), number)
    return number
  }

  /** What `templatesOf` reads. */
  toJson(): string {
    return JSON.stringify(this.#built)
  }
}

function kindOf(name: string, options: JobsOptions): string {
  return `${name} ${JSON.stringify(options)}`
}

function templateArgument(template: MessageTemplate, numbers: BullScripts['numbers']): unknown[] {
  const { script, keys, beforeId, afterId, options } = template
  const hex = [beforeId, afterId, options].map((bytes) => bytes.toString('hex'))
  return [numbers.get(script), keys, ...hex]
}
