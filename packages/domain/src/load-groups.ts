import { type Cadence, cadenceKey } from './cadence.ts'
import type { ScheduleId } from './ids.ts'
import { jitterSeed } from './jitter.ts'
import { ownReason } from './own-reason.ts'
import type { Pause } from './pause.ts'
import { scheduleCadence, type ScheduleVersion } from './schedule.ts'
import { nextVersionTick } from './version-ticks.ts'

/** A schedule whose ticks are counted before they come: its version in force and all pauses that hold for it. */
export interface PlannedSchedule {
  id: ScheduleId
  name: string
  version: ScheduleVersion
  pauses: readonly Pause[]
}

/** Whole seconds; the end is not included. */
export interface LoadPeriod {
  fromMs: number
  toMs: number
}

/** Schedules that tick together, whatever their number. */
export interface LoadGroup {
  cadence: Cadence
  /** 0 for none. */
  jitterMs: number
  members: { name: string; seed: number }[]
  /** The ticks that get a run, those whose jitter may carry it into the period included. */
  ticks: Float64Array
}

/** The period has more ticks, each cadence counted once, than can be held. */
export class TooManyTicksError extends Error {
  override name = 'TooManyTicksError'
}

const MOST_TICKS = 5_000_000
/** Steps between two rests of whoever does the work. */
const STRIDE = 500

/**
 * The groups of all schedules that get a run in a period; what is paused, in shadow mode, or kept
 * from by a calendar is left out. Done in steps, between which other work can be done. Throws
 * TooManyTicksError.
 */
export function* loadGroups(
  schedules: Iterable<PlannedSchedule>,
  period: LoadPeriod,
): Generator<undefined, LoadGroup[], undefined> {
  const groups = new Map<string, { first: PlannedSchedule; members: LoadGroup['members'] }>()
  let steps = 0
  for (const schedule of schedules) {
    if ((steps += 1) % STRIDE === 0) yield
    const { spec } = schedule.version
    if (spec.paused || spec.mode !== 'live') continue
    const key = groupKey(schedule, period)
    const group = groups.get(key) ?? { first: schedule, members: [] }
    groups.set(key, group)
    group.members.push({ name: schedule.name, seed: jitterSeed(schedule.id) })
  }
  const found: LoadGroup[] = []
  let left = MOST_TICKS
  for (const { first, members } of groups.values()) {
    const ticks = yield* groupTicks(first, period, left)
    left -= ticks.length
    const { spec } = first.version
    if (ticks.length > 0)
      found.push({
        cadence: scheduleCadence(spec),
        jitterMs: spec.jitter ?? 0,
        members,
        ticks: Float64Array.from(ticks),
      })
  }
  return found
}

/** Equal keys, equal ticks in the period. */
function groupKey({ version, pauses }: PlannedSchedule, { fromMs, toMs }: LoadPeriod): string {
  const { jitter = 0, startsAt, endsAt, calendars, timezone } = version.spec
  const startMs = startsAt ? Date.parse(startsAt) : -Infinity
  const endMs = endsAt ? Date.parse(endsAt) : Infinity
  return [
    cadenceKey(scheduleCadence(version.spec)),
    jitter,
    startMs <= fromMs - jitter ? '' : startMs,
    endMs >= toMs ? '' : endMs,
    calendars ? JSON.stringify([calendars, timezone]) : '',
    pauses.map((pause) => `${pause.fromMs}-${pause.untilMs ?? ''}`).join(),
  ].join('|')
}

function* groupTicks(
  { version, pauses }: PlannedSchedule,
  { fromMs, toMs }: LoadPeriod,
  most: number,
): Generator<undefined, number[], undefined> {
  const always = { ...version, fromMs: -Infinity }
  const reasonOf = ownReason(version, pauses)
  const ticks: number[] = []
  let steps = 0
  let tick = nextVersionTick(always, fromMs - (version.spec.jitter ?? 0) - 1)
  while (tick !== undefined && tick < toMs) {
    if (reasonOf?.(tick) === undefined) ticks.push(tick)
    if ((steps += 1) > most) throw new TooManyTicksError(`more than ${MOST_TICKS} ticks`)
    if (steps % STRIDE === 0) yield
    tick = nextVersionTick(always, tick)
  }
  yield
  return ticks
}
