import type { ScheduleId } from '@jadwal/domain'
import { readHomes, writeHomes } from '@jadwal/queue'
import type { Redis } from 'ioredis'
import type { Catalogue } from './catalogue.ts'
import { firstQueue } from './plan-ticks.ts'
import type { ScheduleBook } from './schedule-book.ts'

export interface ScheduleHomesDeps {
  book: ScheduleBook
  catalogue: Catalogue
  redis: Redis
  prefix: string
}

export interface GroupedSchedules {
  /** By the queue that keeps their last tick. */
  groups: Map<string, ScheduleId[]>
  /** There is nothing to fire for these any more. */
  gone: ScheduleId[]
  /** No worker has served the job of these yet. */
  waiting: { id: ScheduleId; job: string }[]
}

/** Where schedules keep their last ticks, as far as it was asked in this reign. */
export class ScheduleHomes {
  readonly #deps: ScheduleHomesDeps
  readonly #homes = new Map<ScheduleId, string>()

  constructor(deps: ScheduleHomesDeps) {
    this.#deps = deps
  }

  clear(): void {
    this.#homes.clear()
  }

  forget(id: ScheduleId): void {
    this.#homes.delete(id)
  }

  async move(id: ScheduleId, to: string): Promise<void> {
    const { redis, prefix } = this.#deps
    await writeHomes(redis, prefix, new Map([[id, to]]))
    this.#homes.set(id, to)
  }

  /** Groups schedules by home. One without a home gets one, before anything is fired there. */
  async group(ids: readonly ScheduleId[]): Promise<GroupedSchedules> {
    const { redis, prefix } = this.#deps
    const strangers = ids.filter((id) => !this.#homes.has(id))
    for (const [id, home] of await readHomes(redis, prefix, strangers)) this.#homes.set(id, home)
    const grouped: GroupedSchedules = { groups: new Map(), gone: [], waiting: [] }
    const settled = new Map<ScheduleId, string>()
    for (const id of ids) {
      const home = this.#homes.get(id) ?? this.#firstHome(id, grouped)
      if (home === undefined) continue
      if (!this.#homes.has(id)) settled.set(id, home)
      const group = grouped.groups.get(home)
      if (group) group.push(id)
      else grouped.groups.set(home, [id])
    }
    await writeHomes(redis, prefix, settled)
    for (const [id, home] of settled) this.#homes.set(id, home)
    return grouped
  }

  #firstHome(id: ScheduleId, { gone, waiting }: GroupedSchedules): string | undefined {
    const { book, catalogue } = this.#deps
    const versions = book.get(id)?.versions ?? []
    const home = firstQueue({ versions }, { jobOf: (job) => catalogue.job(job) })
    if (home !== undefined) return home
    const last = versions.at(-1)
    // Deleted, or so before anybody served it: there is nothing to wait for.
    if (last === undefined || last.untilMs !== undefined) gone.push(id)
    else waiting.push({ id, job: last.spec.job })
    return undefined
  }
}
