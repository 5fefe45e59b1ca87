import { type Db, listCurrentPauses, type ScheduleInForce, type SchedulePauseRow } from '@jadwal/db'
import {
  nextFiring,
  type Pause,
  readCalendars,
  ScheduleSpec,
  type ScheduleVersion,
} from '@jadwal/domain'
import { PausesById } from './pauses-by-id.ts'
import type { PauseAnswer } from './schedule-schema.ts'

/** Schedules as the api shows them: what was written, by whom, whether they rest, and when they fire next. */
export async function scheduleViews(
  db: Db,
  schedules: readonly ScheduleInForce[],
  nowMs: number,
): Promise<Record<string, unknown>[]> {
  const ids = schedules.map(({ id }) => id)
  const pauses = new PausesById(await listCurrentPauses(db, ids))
  return schedules.map((schedule) => scheduleView(schedule, pauses.of(schedule.id), nowMs))
}

function scheduleView(
  schedule: ScheduleInForce,
  pauses: readonly SchedulePauseRow[],
  nowMs: number,
): Record<string, unknown> {
  const { id, name, spec, version, source, author } = schedule
  // Its own pause tells more of it than that of everything.
  const pause = pauses.findLast((each) => each.schedule_id !== null) ?? pauses.at(-1)
  return {
    id,
    name,
    ...spec,
    version,
    source,
    author,
    createdAt: schedule.created_at.toISOString(),
    changedAt: schedule.changed_at.toISOString(),
    ...(pause ? { pause: pauseView(pause) } : {}),
    nextTick: nextTickOf(schedule, pauses, nowMs),
  }
}

/** A pause that is on. */
export function pauseView(pause: SchedulePauseRow): PauseAnswer {
  const { schedule_id: id, from_at: from, until_at: until, reason, author } = pause
  return {
    since: from.toISOString(),
    ...(until ? { until: until.toISOString() } : {}),
    ...(reason === null ? {} : { reason }),
    author,
    ...(id === null ? { everything: true } : {}),
  }
}

/** ISO 8601; null for a schedule that is paused or over, or that cannot be read. */
function nextTickOf(
  schedule: ScheduleInForce,
  pauses: readonly SchedulePauseRow[],
  nowMs: number,
): string | null {
  const version = readVersion(schedule)
  const next = version && nextFiring(version, nowMs, pauses.map(toPause))
  return next === undefined ? null : new Date(next).toISOString()
}

export function toPause({ from_at: from, until_at: until }: SchedulePauseRow): Pause {
  return { fromMs: from.getTime(), ...(until ? { untilMs: until.getTime() } : {}) }
}

/** A version in force; undefined when what is stored does not parse. */
export function readVersion(stored: {
  version: number
  spec: unknown
  calendars: Record<string, unknown>
  from_at: Date
}): ScheduleVersion | undefined {
  const spec = ScheduleSpec.safeParse(stored.spec)
  if (!spec.success) return undefined
  return {
    version: stored.version,
    spec: spec.data,
    fromMs: stored.from_at.getTime(),
    calendars: readCalendars(stored.calendars),
  }
}
