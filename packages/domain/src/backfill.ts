import { calendarHoldsUntil, calendarNames, type Calendars } from './calendar.ts'
import { nextTick } from './next-tick.ts'
import { ownReason } from './own-reason.ts'
import { scheduleCadence, type ScheduleSpec } from './schedule.ts'

/** Instants of the cadence that one call looks at: it must not hold up the event loop for long. */
const MOST_LOOKED_AT = 2_000

/** The past that a backfill makes runs for, by the rule that its schedule had when it was made. */
export interface BackfillRange {
  fromMs: number
  /** Both ends are in it. */
  untilMs: number
  spec: ScheduleSpec
  calendars?: Calendars
}

export interface BackfillStretch {
  /** Oldest first. */
  ticks: number[]
  /** There are no other ticks up to here: go on from it. */
  positionMs: number
  /** How often the schedule's calendars were found to keep it from a tick. */
  keptFrom: number
  /** There are no more ticks in the range. */
  end: boolean
}

/**
 * The next ticks of a backfill after `afterMs`, at most `most`; or fewer, where there was much to look
 * at. The cadence and the calendars of the schedule count; its dates, pauses and mode do not, as they
 * are of another time.
 */
export function backfillTicks(
  range: BackfillRange,
  afterMs: number,
  most: number,
): BackfillStretch {
  const { spec, calendars = {}, untilMs } = range
  const cadence = scheduleCadence(spec)
  const version = { version: 0, fromMs: range.fromMs, spec: asLive(spec), calendars }
  const reasonOf = ownReason(version, [])
  const chosen = calendarNames(spec.calendars).flatMap((name) => calendars[name] ?? [])
  const ticks: number[] = []
  let positionMs = Math.max(afterMs, range.fromMs - 1)
  let keptFrom = 0
  while (ticks.length < most && ticks.length + keptFrom < MOST_LOOKED_AT) {
    const tick = nextTick(cadence, positionMs)
    if (tick === undefined || tick > untilMs) return { ticks, positionMs, keptFrom, end: true }
    positionMs = tick
    if (reasonOf?.(tick)) {
      keptFrom += 1
      const holds = chosen.map((each) => calendarHoldsUntil(each, spec.timezone, tick) - 1)
      positionMs = Math.max(tick, Math.min(untilMs, ...holds))
    } else ticks.push(tick)
  }
  return { ticks, positionMs, keptFrom, end: false }
}

function asLive(spec: ScheduleSpec): ScheduleSpec {
  return spec.paused || spec.mode === 'shadow' ? { ...spec, paused: false, mode: 'live' } : spec
}
