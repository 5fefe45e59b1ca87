import { setImmediate } from 'node:timers/promises'
import { type Db, loadSchedules, readScheduleRevision } from '@jadwal/db'
import {
  type Calendars,
  type Clock,
  isPausedAt,
  nextFiring,
  type Pause,
  type Schedule,
  type ScheduleId,
  type ScheduleSpec,
  type ScheduleVersion,
} from '@jadwal/domain'

/** Others have their turn after so many. */
const AT_ONCE = 500

export interface NextSchedule {
  name: string
  spec: ScheduleSpec
  /** ISO 8601; null for a schedule that is paused or over. */
  nextTick: string | null
  isPaused: boolean
}

interface KnownSchedule {
  name: string
  version: ScheduleVersion
  pauses: readonly Pause[]
  /** Infinity when none comes. */
  nextMs: number
}

/** Stands for a next tick that is to be worked out. */
const UNKNOWN = -Infinity

/**
 * The schedules by their next tick, for the page. To find the next ones all must be known: what has
 * changed is read when something has, and a next tick is worked out again when it has passed.
 */
export class NextSchedules {
  readonly #db: Db
  readonly #clock: Clock
  #revision: number | undefined
  readonly #schedules = new Map<ScheduleId, KnownSchedule>()
  /** Of everything. */
  #pauses: readonly Pause[] = []
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
    const first: KnownSchedule[] = []
    for (const schedule of this.#schedules.values()) {
      const last = first.at(-1)
      if (last && first.length >= count && byNextTick(last, schedule) < 0) continue
      const at = first.findIndex((each) => byNextTick(schedule, each) < 0)
      first.splice(at === -1 ? first.length : at, 0, schedule)
      if (first.length > count) first.pop()
    }
    return {
      first: first.map((each) => this.#shown(each)),
      more: this.#schedules.size - first.length,
    }
  }

  #shown({ name, version, pauses, nextMs }: KnownSchedule): NextSchedule {
    const nowMs = this.#clock.now().getTime()
    return {
      name,
      spec: version.spec,
      nextTick: nextMs === Infinity ? null : new Date(nextMs).toISOString(),
      isPaused: version.spec.paused || isPausedAt([...this.#pauses, ...pauses], nowMs),
    }
  }

  async #refresh(): Promise<void> {
    if ((await readScheduleRevision(this.#db)) !== this.#revision) await this.#load()
    const nowMs = this.#clock.now().getTime()
    const shared = new SharedTicks(nowMs)
    const pauses = ahead(this.#pauses, nowMs)
    let looked = 0
    for (const schedule of this.#schedules.values()) {
      if (schedule.nextMs > nowMs) continue
      schedule.nextMs = shared.next(schedule.version, [...pauses, ...ahead(schedule.pauses, nowMs)])
      looked += 1
      if (looked % AT_ONCE === 0) await setImmediate()
    }
  }

  async #load(): Promise<void> {
    const loaded = await loadSchedules(this.#db, this.#revision, { withPayloads: false })
    if (JSON.stringify(loaded.pauses) !== JSON.stringify(this.#pauses))
      for (const schedule of this.#schedules.values()) schedule.nextMs = UNKNOWN
    this.#pauses = loaded.pauses
    for (const schedule of loaded.schedules) {
      const known = knownSchedule(schedule)
      if (known) this.#schedules.set(schedule.id, known)
      else this.#schedules.delete(schedule.id)
    }
    this.#revision = loaded.revision
  }
}

/** Undefined for a schedule that is deleted. */
function knownSchedule({ name, versions, pauses = [] }: Schedule): KnownSchedule | undefined {
  const version = versions.at(-1)
  if (!version || version.untilMs !== undefined) return undefined
  return { name, version, pauses, nextMs: UNKNOWN }
}

/** Those that have not ended. */
function ahead(pauses: readonly Pause[], nowMs: number): readonly Pause[] {
  return pauses.filter(({ untilMs = Infinity }) => untilMs > nowMs)
}

/** Next ticks after an instant. Those of one rule, which are many, are worked out together. */
class SharedTicks {
  readonly #afterMs: number
  readonly #known = new Map<ScheduleSpec, { calendars: Calendars | undefined; nextMs: number }>()

  constructor(afterMs: number) {
    this.#afterMs = afterMs
  }

  next(version: ScheduleVersion, pauses: readonly Pause[]): number {
    const { spec, calendars, fromMs } = version
    const known = this.#known.get(spec)
    const isShared = pauses.length === 0 && fromMs <= this.#afterMs
    if (isShared && known && known.calendars === calendars) return known.nextMs
    const nextMs = nextFiring(version, this.#afterMs, pauses) ?? Infinity
    if (isShared) this.#known.set(spec, { calendars, nextMs })
    return nextMs
  }
}

/** Those without a next tick last. */
function byNextTick(a: KnownSchedule, b: KnownSchedule): number {
  if (a.nextMs !== b.nextMs) return a.nextMs < b.nextMs ? -1 : 1
  return a.name < b.name ? -1 : 1
}
