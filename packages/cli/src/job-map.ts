import { JobName } from '@jadwal/domain'
import { nameSlug, UniqueNames } from './unique-names.ts'

/** A job of BullMQ: what a queue's processor tells apart by. */
export interface BullmqJob {
  queue: string
  name: string
}

/** `queue/name=job` taken apart; undefined when it is not that. */
export function readMapping(text: string): [string, string] | undefined {
  const [, from, to] = /^(.+\/.+)=([^=]+)$/.exec(text) ?? []
  return from !== undefined && JobName.safeParse(to).success ? [from, to ?? ''] : undefined
}

/** Which job of Jadwal stands for a job of BullMQ: as the user says, or one named after queue and job. */
export class JobMap {
  readonly #given: ReadonlyMap<string, string>
  readonly #used = new Set<string>()
  readonly #derived = new Map<string, string>()
  readonly #names: UniqueNames

  constructor(given: ReadonlyMap<string, string>) {
    this.#given = given
    this.#names = new UniqueNames(given.values())
  }

  jobOf({ queue, name }: BullmqJob): string {
    const key = `${queue}/${name}`
    const given = this.#given.get(key)
    if (given !== undefined) {
      this.#used.add(key)
      return given
    }
    const known = this.#derived.get(key)
    if (known !== undefined) return known
    // Bull and BullMQ call jobs without a name so.
    const words = name === '__default__' ? [queue] : [queue, name]
    const slug = words.map(nameSlug).filter(Boolean).join('.')
    const job = this.#names.free(slug, 'job')
    this.#names.take(job)
    this.#derived.set(key, job)
    return job
  }

  /** `queue/name` and job of those that the user did not name. */
  get derived(): ReadonlyMap<string, string> {
    return this.#derived
  }

  /** Mappings that nothing was found for. */
  get unused(): string[] {
    return [...this.#given.keys()].filter((key) => !this.#used.has(key))
  }
}
