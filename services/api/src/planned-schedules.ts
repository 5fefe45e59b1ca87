import { setImmediate } from 'node:timers/promises'
import {
  type Db,
  listCalendarSpecs,
  listPausesAfter,
  listScheduleRules,
  type ScheduleRule,
} from '@jadwal/db'
import {
  type Calendars,
  type Pause,
  type PlannedSchedule,
  ScheduleSpec,
  type ScheduleVersion,
} from '@jadwal/domain'

const STRIDE = 2_000

/**
 * All schedules in force with what says when they tick. Those with equal rules share one version, so
 * that 100,000 schedules cost as many parsings as they have rules. One whose rule cannot be read is
 * left out, as the leader leaves it out.
 */
export async function readPlannedSchedules(db: Db, nowMs: number): Promise<PlannedSchedule[]> {
  const pauses = await listPausesAfter(db, nowMs)
  const rules = new Rules(await listCalendarSpecs(db))
  const everything = pauses.get('') ?? []
  const planned: PlannedSchedule[] = []
  for await (const batch of listScheduleRules(db)) {
    for (const [at, rule] of batch.entries()) {
      // Others have their turn in between.
      if (at % STRIDE === 0) await setImmediate()
      const version = rules.versionOf(rule)
      if (version) planned.push({ ...nameOf(rule), version, pauses: own(rule.id) })
    }
  }
  return planned

  function own(id: string): readonly Pause[] {
    const those = pauses.get(id)
    return those ? [...everything, ...those] : everything
  }
}

function nameOf({ id, name }: ScheduleRule) {
  return { id, name }
}

class Rules {
  readonly #versions = new Map<string, ScheduleVersion | undefined>()
  readonly #calendars: Calendars

  constructor(calendars: Calendars) {
    this.#calendars = calendars
  }

  versionOf({ rule }: ScheduleRule): ScheduleVersion | undefined {
    if (this.#versions.has(rule)) return this.#versions.get(rule)
    const stored = JSON.parse(rule) as Record<string, unknown>
    const spec = ScheduleSpec.safeParse({ ...stored, job: 'unnamed' })
    const version = spec.success
      ? { version: 0, spec: spec.data, fromMs: -Infinity, calendars: this.#calendars }
      : undefined
    this.#versions.set(rule, version)
    return version
  }
}
