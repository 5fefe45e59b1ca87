import { calendarHoldsUntil, calendarNames } from './calendar.ts'
import { ownReason } from './own-reason.ts'
import type { Pause } from './pause.ts'
import type { ScheduleVersion } from './schedule.ts'
import { nextVersionTick } from './version-ticks.ts'

/** Stretches without a firing that are looked through before it is said that none comes. */
const MOST_STRETCHES = 5_000

/**
 * The first tick after `afterMs` that a version in force fires: neither paused nor kept from by a
 * calendar. One in shadow mode counts as firing. Undefined when none comes.
 */
export function nextFiring(
  version: ScheduleVersion,
  afterMs: number,
  pauses: readonly Pause[] = [],
): number | undefined {
  const { spec, calendars = {} } = version
  if (spec.paused) return undefined
  const reasonOf = ownReason(version, pauses)
  const chosen = calendarNames(spec.calendars).flatMap((name) => calendars[name] ?? [])
  let tick = nextVersionTick(version, afterMs)
  for (let looked = 0; tick !== undefined && looked < MOST_STRETCHES; looked += 1) {
    const at: number = tick
    const reason = reasonOf?.(at)
    if (reason === undefined || reason === 'shadow') return at
    const untilMs =
      reason === 'paused'
        ? pausedUntil(pauses, at)
        : Math.min(...chosen.map((each) => calendarHoldsUntil(each, spec.timezone, at) - 1))
    if (untilMs === Infinity) return undefined
    tick = nextVersionTick(version, Math.max(at, untilMs))
  }
  return undefined
}

/** The end, itself still in it, of the longest pause that an instant lies in. */
function pausedUntil(pauses: readonly Pause[], atMs: number): number {
  const around = pauses.filter(({ fromMs, untilMs = Infinity }) => atMs > fromMs && atMs <= untilMs)
  return Math.max(atMs, ...around.map(({ untilMs = Infinity }) => untilMs))
}
