import {
  type Db,
  listCurrentPauses,
  listSchedules,
  readScheduleRevision,
  type ScheduleInForce,
  type SchedulePauseRow,
} from '@jadwal/db'
import type { Clock } from '@jadwal/domain'
import { PausesById } from './pauses-by-id.ts'
import { nextTickOf } from './schedule-view.ts'

const PAGE = 200

export interface NextSchedule {
  name: string
  /** As written. */
  spec: Record<string, unknown>
  /** ISO 8601; null for a schedule that is paused or over. */
  nextTick: string | null
  isPaused: boolean
}

/** What its next tick is worked out from. */
interface KnownSchedule extends NextSchedule {
  schedule: ScheduleInForce
  pauses: readonly SchedulePauseRow[]
}

/**
 * The schedules by their next tick, for the page. To find the next ones all must be known: they are
 * read when one has changed, and a next tick is worked out again when it has passed.
 */
export class NextSchedules {
  readonly #db: Db
  readonly #clock: Clock
  #revision: number | undefined
  #schedules: KnownSchedule[] = []
  #refreshing: Promise<void> | undefined

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** The first `count`, and how many more there are. Rejects when Postgres is away. */
  async first(count: number): Promise<{ first: readonly NextSchedule[]; more: number }> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    await this.#refreshing
    const first = this.#schedules.slice(0, count)
    return { first, more: this.#schedules.length - first.length }
  }

  async #refresh(): Promise<void> {
    const revision = await readScheduleRevision(this.#db)
    if (revision !== this.#revision) {
      this.#schedules = await this.#readAll()
      this.#revision = revision
    }
    const now = this.#clock.now()
    const nowIso = now.toISOString()
    for (const schedule of this.#schedules) {
      if (schedule.nextTick !== null && schedule.nextTick <= nowIso)
        schedule.nextTick = nextTickOf(schedule.schedule, schedule.pauses, now.getTime())
    }
    this.#schedules.sort(byNextTick)
  }

  async #readAll(): Promise<KnownSchedule[]> {
    const all: KnownSchedule[] = []
    const pauses = new PausesById(await listCurrentPauses(this.#db, 'all'))
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await listSchedules(this.#db, { limit: PAGE, ...(cursor && { cursor }) })
      const nowMs = this.#clock.now().getTime()
      all.push(
        ...page.items.map((schedule) => knownSchedule(schedule, pauses.of(schedule.id), nowMs)),
      )
      cursor = page.nextCursor
    }
    return all
  }
}

function knownSchedule(
  schedule: ScheduleInForce,
  pauses: readonly SchedulePauseRow[],
  nowMs: number,
): KnownSchedule {
  const { name, spec } = schedule
  const isPaused = spec['paused'] === true || pauses.length > 0
  return { name, spec, schedule, pauses, isPaused, nextTick: nextTickOf(schedule, pauses, nowMs) }
}

/** Those without a next tick last. Instants in ISO 8601 of UTC compare as text. */
function byNextTick(a: NextSchedule, b: NextSchedule): number {
  if (a.nextTick === b.nextTick) return a.name < b.name ? -1 : 1
  if (a.nextTick === null || b.nextTick === null) return a.nextTick === null ? 1 : -1
  return a.nextTick < b.nextTick ? -1 : 1
}
