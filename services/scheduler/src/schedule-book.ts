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
 * distinct cadences whether they are due. A schedule is in the groups of all its versions that have
 * not ended: changes may lie ahead, and until then the old version ticks on. Every replica has one
 * book, so a take-over needs no Postgres.
 */
export class ScheduleBook {
  readonly #schedules = new Map<ScheduleId, Schedule>()
  readonly #groups = new Map<string, CadenceGroup>()
  /**
   * Schedules that changed, and when to look at them: at once, since what the old version owes is
   * fired first, and again when a version ends whose end is still to come by the clock of Redis.
   */
  readonly #changed = new Map<ScheduleId, number>()
  #inForce = 0

  /** How many schedules there are that are not deleted. */
  get size(): number {
    return this.#inForce
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
      this.#replace(schedule.id, schedule.versions.length > 0 ? schedule : undefined, nowMs)
      if (schedule.versions.length > 0) this.#changed.set(schedule.id, 0)
      else this.#changed.delete(schedule.id)
    }
  }

  /** Drops the versions that ended before an instant, and the schedules that have no others. */
  forget(beforeMs: number): void {
    for (const [id, schedule] of this.#schedules) {
      const [oldest] = schedule.versions
      if (oldest?.untilMs === undefined || oldest.untilMs >= beforeMs) continue
      const versions = schedule.versions.filter(({ untilMs = Infinity }) => untilMs >= beforeMs)
      // Those that ended are in no group any more.
      if (versions.length > 0) this.#schedules.set(id, { ...schedule, versions })
      else this.#schedules.delete(id)
    }
  }

  /** The schedules that may owe a tick which `collectDue` has not told of. Tells of each tick once. */
  collectDue(nowMs: number): ScheduleId[] {
    const due = new Set<ScheduleId>()
    for (const group of this.#groups.values()) {
      if (group.nextMs > nowMs) continue
      for (const id of group.ids) due.add(id)
      group.nextMs = nextTick(group.cadence, nowMs) ?? Infinity
    }
    for (const [id, atMs] of this.#changed) {
      if (atMs > nowMs) continue
      due.add(id)
      const schedule = this.#schedules.get(id)
      if (schedule?.versions.some(({ untilMs }) => untilMs !== undefined))
        this.#replace(id, schedule, nowMs)
      this.#lookAgain(id, nowMs)
    }
    return [...due]
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

  /** Puts a schedule in the place of what is known of it, and into the groups it now belongs to. */
  #replace(id: ScheduleId, schedule: Schedule | undefined, nowMs: number): void {
    const known = this.#schedules.get(id)
    const groups = cadencesAfter(schedule, nowMs)
    for (const key of cadencesAfter(known, -Infinity).keys())
      if (!groups.has(key)) this.#leaveGroup(id, key)
    for (const [key, cadence] of groups) this.#joinGroup(id, { key, cadence }, nowMs)
    this.#inForce += Number(isInForce(schedule)) - Number(isInForce(known))
    if (schedule) this.#schedules.set(id, schedule)
    else this.#schedules.delete(id)
  }

  #joinGroup(id: ScheduleId, { key, cadence }: KeyedCadence, nowMs: number): void {
    const group = this.#groups.get(key) ?? {
      cadence,
      nextMs: nextTick(cadence, nowMs) ?? Infinity,
      ids: new Set(),
    }
    group.ids.add(id)
    this.#groups.set(key, group)
  }

  #leaveGroup(id: ScheduleId, key: string): void {
    const group = this.#groups.get(key)
    if (!group) return
    group.ids.delete(id)
    if (group.ids.size === 0) this.#groups.delete(key)
  }
}

interface KeyedCadence {
  key: string
  cadence: Cadence
}

/** The cadences, by key, of the versions that end after an instant. */
function cadencesAfter(schedule: Schedule | undefined, afterMs: number): Map<string, Cadence> {
  const cadences = new Map<string, Cadence>()
  for (const { spec, untilMs = Infinity } of schedule?.versions ?? []) {
    if (untilMs <= afterMs) continue
    const cadence = scheduleCadence(spec)
    cadences.set(cadenceKey(cadence), cadence)
  }
  return cadences
}

function isInForce(schedule: Schedule | undefined): boolean {
  const last = schedule?.versions.at(-1)
  return last !== undefined && last.untilMs === undefined
}
