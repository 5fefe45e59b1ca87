import type { ScheduleVersion } from './schedule.ts'
import { nextVersionTick } from './version-ticks.ts'

/** A tick that a schedule has, whatever became of it, and the version that rules it. */
export interface ExpectedTick {
  tickAtMs: number
  version: ScheduleVersion
}

/**
 * The ticks of a schedule's versions, oldest first, strictly after `afterMs` and up to `untilMs`, that
 * instant included. Each version has its own time, so no tick comes twice. A generator: whoever
 * walks a long period can stop, or rest, wherever it likes.
 */
export function* expectedTicks(
  versions: Iterable<ScheduleVersion>,
  { afterMs, untilMs }: { afterMs: number; untilMs: number },
): Generator<ExpectedTick, void, undefined> {
  let lastMs = afterMs
  for (const version of versions) {
    let tick = nextVersionTick(version, lastMs)
    while (tick !== undefined && tick <= untilMs) {
      yield { tickAtMs: tick, version }
      lastMs = tick
      tick = nextVersionTick(version, tick)
    }
  }
}
