import { nextTick } from './next-tick.ts'
import { scheduleCadence, type ScheduleVersion } from './schedule.ts'

/**
 * The first tick of a version strictly after `afterMs`, within the version's time and the dates of
 * its schedule; undefined when there is none. Whoever asks what a schedule's ticks are, to fire them,
 * to foretell them or to look for them in the history, asks here.
 */
export function nextVersionTick(version: ScheduleVersion, afterMs: number): number | undefined {
  const { spec, fromMs, untilMs = Infinity } = version
  // A tick on the very instant of the start counts.
  const startMs = spec.startsAt ? Date.parse(spec.startsAt) - 1 : -Infinity
  const endMs = spec.endsAt ? Date.parse(spec.endsAt) : Infinity
  const tick = nextTick(scheduleCadence(spec), Math.max(afterMs, fromMs, startMs))
  return tick !== undefined && tick <= untilMs && tick <= endMs ? tick : undefined
}
