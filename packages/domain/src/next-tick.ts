import type { Cadence, CronCadence } from './cadence.ts'
import { DAY } from './clock.ts'
import { type CronTimes, parseCron } from './cron.ts'
import { MAX_OFFSET_MS, type ZoneClock, zoneClock, type ZoneStretch } from './zone-clock.ts'

/** A cadence that brings nothing for this long brings nothing ever. */
const HORIZON = 50 * 366 * DAY

/**
 * The first tick strictly after `afterMs`, in ms since the epoch; undefined when there is none.
 *
 * An instant is a tick when its wall time matches the expression. Unless the hour field begins with
 * `*`, two things are added: right after a fold the wall times come a second time, and count under
 * `twice` only; right after a gap the instants are also those of the wall times that were skipped,
 * read with the offset before the gap, and count under `shift`. Being one instant, two wall times
 * that meet there are one tick.
 *
 * Throws CronError on an expression that is wrong and RangeError on a zone that does not exist.
 */
export function nextTick(cadence: Cadence, afterMs: number): number | undefined {
  if (cadence.kind === 'every') return nextOf(cadence, afterMs)
  const cron = parseCron(cadence.expression)
  if (cron.everyMs !== undefined) return nextOf({ everyMs: cron.everyMs, offsetMs: 0 }, afterMs)
  const zone = zoneClock(cadence.timezone)
  return (
    tickIn(cron, cadence, { stretch: zone.stretchAt(afterMs), afterMs }) ??
    laterTick(cron, cadence, { zone, afterMs })
  )
}

function nextOf(
  { everyMs, offsetMs }: { everyMs: number; offsetMs: number },
  afterMs: number,
): number {
  return Math.floor((afterMs - offsetMs) / everyMs) * everyMs + offsetMs + everyMs
}

/** Walks on, stretch by stretch, past those that no matching wall time can lie in. */
function laterTick(
  cron: CronTimes,
  cadence: CronCadence,
  { zone, afterMs }: { zone: ZoneClock; afterMs: number },
): number | undefined {
  let stretch = zone.stretchAt(afterMs)
  while (stretch.untilMs - afterMs < HORIZON) {
    const wall = cron.wallClock.next(stretch.untilMs - 1 - MAX_OFFSET_MS)
    if (wall === undefined) return undefined
    const from = Math.max(stretch.untilMs, wall - MAX_OFFSET_MS)
    stretch = zone.stretchAt(from)
    const tick = tickIn(cron, cadence, { stretch, afterMs: from - 1 })
    if (tick !== undefined) return tick
  }
  return undefined
}

/** The first tick after `afterMs` in one stretch. */
function tickIn(
  { fields, wallClock }: CronTimes,
  cadence: CronCadence,
  { stretch, afterMs }: { stretch: ZoneStretch; afterMs: number },
): number | undefined {
  const { offsetMs, offsetBeforeMs } = stretch
  const byWallTime = !fields.hourStar
  if (byWallTime && offsetMs < offsetBeforeMs && cadence.fold === 'once') return undefined
  let tick = readWith(offsetMs)
  if (byWallTime && offsetMs > offsetBeforeMs && cadence.gap === 'shift')
    tick = Math.min(tick, readWith(offsetBeforeMs))
  return tick < stretch.untilMs ? tick : undefined

  function readWith(offset: number): number {
    const wall = wallClock.next(afterMs + offset)
    return wall === undefined ? Infinity : wall - offset
  }
}
