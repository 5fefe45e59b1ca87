import { calendarHoldsUntil, calendarNames } from './calendar.ts'
import { decideTicks } from './decide-ticks.ts'
import { nextTick } from './next-tick.ts'
import type { Pause } from './pause.ts'
import { scheduleCadence, type ScheduleVersion } from './schedule.ts'

/** Stretches without a firing that are looked through before it is said that none comes. */
const MOST_STRETCHES = 5_000

/**
 * The first tick after `afterMs` that a version in force fires: neither paused nor kept from by a
 * calendar, and within its dates. One in shadow mode counts as firing. Undefined when none comes.
 */
export function nextFiring(
  version: ScheduleVersion,
  afterMs: number,
  pauses: readonly Pause[] = [],
): number | undefined {
  const { spec, calendars = {} } = version
  if (spec.paused) return undefined
  const live =
    spec.mode === 'live' ? version : { ...version, spec: { ...spec, mode: 'live' as const } }
  const cadence = scheduleCadence(spec)
  const endMs = spec.endsAt ? Date.parse(spec.endsAt) : Infinity
  // A tick on the instant of the start counts, and `nextTick` looks strictly after.
  const startMs = spec.startsAt ? Date.parse(spec.startsAt) - 1 : -Infinity
  const chosen = calendarNames(spec.calendars).flatMap((name) => calendars[name] ?? [])
  let tick = nextTick(cadence, Math.max(afterMs, startMs, version.fromMs))
  for (let looked = 0; tick !== undefined && looked < MOST_STRETCHES; looked += 1) {
    const at: number = tick
    if (at > endMs) return undefined
    const { verdicts } = decideTicks(live, at - 1, { nowMs: at, pauses })
    const [verdict] = verdicts
    if (verdict?.verdict === 'fire') return at
    const untilMs =
      verdict?.reason === 'paused'
        ? pausedUntil(pauses, at)
        : Math.min(...chosen.map((each) => calendarHoldsUntil(each, spec.timezone, at) - 1))
    if (untilMs === Infinity) return undefined
    tick = nextTick(cadence, Math.max(at, untilMs))
  }
  return undefined
}

/** The end, itself still in it, of the longest pause that an instant lies in. */
function pausedUntil(pauses: readonly Pause[], atMs: number): number {
  const around = pauses.filter(({ fromMs, untilMs = Infinity }) => atMs > fromMs && atMs <= untilMs)
  return Math.max(atMs, ...around.map(({ untilMs = Infinity }) => untilMs))
}
