import {
  type Cadence,
  cadenceKey,
  nextTick,
  type Pause,
  type Schedule,
  scheduleCadence,
  type ScheduleId,
} from '@jadwal/domain'

interface CadenceGroup {
  cadence: Cadence
  /** The next tick that nobody was told of yet. */
  nextMs: number
  ids: Set<ScheduleId>
}

/**
 * All schedules, in memory, grouped by cadence: whatever their number, each second asks only the
 * distinct cadences whether they are due. Every replica has one, so a take-over needs no Postgres.
 */
export class ScheduleBook {
  readonly #schedules = new Map<ScheduleId, Schedule>()
  readonly #groups = new Map<string, CadenceGroup>()
  readonly #keys = new Map<ScheduleId, string>()
  /**
   * Schedules that changed, and when to look at them: at once, since what the old version owes is
   * fired first, and again when a version ends whose end is still to come by the clock of Redis.
   */
  readonly #changed = new Map<ScheduleId, number>()

  get size(): number {
    return this.#schedules.size
  }

  get(id: ScheduleId): Schedule | undefined {
    return this.#schedules.get(id)
  }

  ids(): IterableIterator<ScheduleId> {
    return this.#schedules.keys()
  }

  cadenceKeys(): Iterable<string> {
    return this.#groups.keys()
  }

  /** The pauses that hold for every schedule. */
  pauses: readonly Pause[] = []

  /** Takes in schedules that are new or have changed. One without any version is forgotten. */
  put(schedules: readonly Schedule[], nowMs: number): void {
    for (const schedule of schedules) {
      this.#leaveGroup(schedule.id)
      const last = schedule.versions.at(-1)
      if (!last) {
        this.#schedules.delete(schedule.id)
        continue
      }
      this.#schedules.set(schedule.id, schedule)
      this.#changed.set(schedule.id, 0)
      if (last.untilMs === undefined)
        this.#joinGroup(schedule.id, scheduleCadence(last.spec), nowMs)
    }
  }

  /** The schedules that may owe a tick which `collectDue` has not told of. Tells of each tick once. */
  collectDue(nowMs: number): ScheduleId[] {
    const due: ScheduleId[] = []
    for (const [id, atMs] of this.#changed) {
      if (atMs > nowMs) continue
      due.push(id)
      this.#lookAgain(id, nowMs)
    }
    for (const group of this.#groups.values()) {
      if (group.nextMs > nowMs) continue
      due.push(...group.ids)
      group.nextMs = nextTick(group.cadence, nowMs) ?? Infinity
    }
    return due
  }

  /** Starts counting after an instant: for one who is going to look at every schedule anyway. */
  rewind(fromMs: number): void {
    for (const id of this.#changed.keys()) this.#lookAgain(id, fromMs)
    for (const group of this.#groups.values())
      group.nextMs = nextTick(group.cadence, fromMs) ?? Infinity
  }

  /** The next instant at which `collectDue` has something; Infinity when it never will. */
  nextDueMs(): number {
    let earliest = Infinity
    for (const atMs of this.#changed.values()) earliest = Math.min(earliest, atMs)
    for (const { nextMs } of this.#groups.values()) earliest = Math.min(earliest, nextMs)
    return earliest
  }

  #lookAgain(id: ScheduleId, nowMs: number): void {
    const ends = (this.#schedules.get(id)?.versions ?? []).flatMap(({ untilMs = 0 }) =>
      untilMs > nowMs ? [untilMs] : [],
    )
    if (ends.length === 0) this.#changed.delete(id)
    else this.#changed.set(id, Math.min(...ends))
  }

  #joinGroup(id: ScheduleId, cadence: Cadence, nowMs: number): void {
    const key = cadenceKey(cadence)
    const group = this.#groups.get(key) ?? {
      cadence,
      nextMs: nextTick(cadence, nowMs) ?? Infinity,
      ids: new Set(),
    }
    group.ids.add(id)
    this.#groups.set(key, group)
    this.#keys.set(id, key)
  }

  #leaveGroup(id: ScheduleId): void {
    const key = this.#keys.get(id)
    const group = key === undefined ? undefined : this.#groups.get(key)
    if (key === undefined || !group) return
    group.ids.delete(id)
    this.#keys.delete(id)
    if (group.ids.size === 0) this.#groups.delete(key)
  }
}
