import { type OwnReason, ownReason } from './own-reason.ts'
import { jitterMs } from './jitter.ts'
import type { ScheduleId } from './ids.ts'
import type { Pause } from './pause.ts'
import type { ScheduleVersion } from './schedule.ts'
import { nextVersionTick } from './version-ticks.ts'

/** A tick that lies ahead. */
export interface NextTick {
  tickAtMs: number
  /** When its run is to start: the schedule's jitter later. */
  startsAtMs: number
  /** Why it will get no run, if nobody changes anything. */
  reason?: OwnReason
}

/** The next ticks of the version in force, skipped ones among them; fewer when it ends before. */
export function nextTicks(
  scheduleId: ScheduleId,
  version: ScheduleVersion,
  { afterMs, count, pauses }: { afterMs: number; count: number; pauses: readonly Pause[] },
): NextTick[] {
  const waitMs = jitterMs(scheduleId, version.spec)
  const reasonOf = ownReason(version, pauses)
  const ticks: NextTick[] = []
  let tick = nextVersionTick(version, afterMs)
  while (tick !== undefined && ticks.length < count) {
    const reason = reasonOf?.(tick)
    ticks.push({ tickAtMs: tick, startsAtMs: tick + waitMs, ...(reason ? { reason } : {}) })
    tick = nextVersionTick(version, tick)
  }
  return ticks
}
