import { calendarNames, isInCalendar } from './calendar.ts'
import { isPausedAt, type Pause } from './pause.ts'
import type { RunReason } from './run.ts'
import type { ScheduleVersion } from './schedule.ts'

/** Reasons to skip a tick that it has by itself, whenever it is looked at. */
export type OwnReason = Extract<RunReason, 'paused' | 'calendar' | 'shadow'>

/**
 * What tells the own reason of a version's ticks; undefined when no tick of the version is skipped
 * whatever the hour.
 */
export function ownReason(
  { spec, calendars = {} }: ScheduleVersion,
  pauses: readonly Pause[],
): ((tickAtMs: number) => OwnReason | undefined) | undefined {
  const { paused, mode, timezone } = spec
  const chosen = calendarNames(spec.calendars).length > 0 ? spec.calendars : undefined
  if (!paused && mode === 'live' && pauses.length === 0 && !chosen) return undefined
  const isIn = (names: readonly string[], atMs: number): boolean =>
    names.some((name) => {
      const calendar = calendars[name]
      return calendar !== undefined && isInCalendar(calendar, timezone, atMs)
    })
  return (tickAtMs) => {
    if (paused || isPausedAt(pauses, tickAtMs)) return 'paused'
    if (chosen && isIn(chosen.skip, tickAtMs)) return 'calendar'
    if (chosen && chosen.only.length > 0 && !isIn(chosen.only, tickAtMs)) return 'calendar'
    return mode === 'shadow' ? 'shadow' : undefined
  }
}
