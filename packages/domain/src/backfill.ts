import type { Calendars } from './calendar.ts'
import { nextTick } from './next-tick.ts'
import { ownReason } from './own-reason.ts'
import { scheduleCadence, type ScheduleSpec } from './schedule.ts'

/** The past that a backfill makes runs for, by the rule that its schedule had when it was made. */
export interface BackfillRange {
  fromMs: number
  /** Both ends are in it. */
  untilMs: number
  spec: ScheduleSpec
  calendars?: Calendars
}

/**
 * The next ticks of a backfill after `afterMs`, at most `most`, oldest first. The cadence and the
 * calendars of the schedule count; its dates, pauses and mode do not, as they are of another time.
 */
export function backfillTicks(range: BackfillRange, afterMs: number, most: number): number[] {
  const { spec, calendars = {}, untilMs } = range
  const cadence = scheduleCadence(spec)
  const version = { version: 0, fromMs: range.fromMs, spec: asLive(spec), calendars }
  const reasonOf = ownReason(version, [])
  const ticks: number[] = []
  let tick = nextTick(cadence, Math.max(afterMs, range.fromMs - 1))
  while (tick !== undefined && tick <= untilMs && ticks.length < most) {
    if (!reasonOf?.(tick)) ticks.push(tick)
    tick = nextTick(cadence, tick)
  }
  return ticks
}

function asLive(spec: ScheduleSpec): ScheduleSpec {
  return spec.paused || spec.mode === 'shadow' ? { ...spec, paused: false, mode: 'live' } : spec
}
