import { DAY, HOUR, MINUTE, SECOND } from './clock.ts'

/**
 * A stretch of real time, [fromMs, untilMs), in which a zone's clock runs evenly.
 *
 * After a change of the clock a stretch as long as the change stands by itself, with another
 * `offsetBeforeMs`: after a gap (offset grew) its instants are where the skipped wall times land
 * when they are read with the offset before; after a fold (offset shrank) its wall times have all
 * been there once already.
 */
export interface ZoneStretch {
  fromMs: number
  untilMs: number
  /** Wall time minus UTC. */
  offsetMs: number
  /** The offset before the clock change that this stretch stands right behind, else `offsetMs`. */
  offsetBeforeMs: number
}

/** No zone is, or ever was, farther from UTC. */
export const MAX_OFFSET_MS = 16 * HOUR

export interface ZoneClock {
  stretchAt(atMs: number): ZoneStretch
}

/**
 * The zone is asked about once per block. Two clock changes that cancel each other out go unseen when
 * they come within a block and the effect before it; the nearest that any zone has had since 1970 are
 * a week apart (Noronha, October 2000).
 */
const BLOCK = 5 * DAY
/** The longest effect of a clock change: Apia lost a whole day. */
const EFFECT = 25 * HOUR

const clocks = new Map<string, ZoneClock>()
const UTC: ZoneStretch = { fromMs: -Infinity, untilMs: Infinity, offsetMs: 0, offsetBeforeMs: 0 }

/** The clock of an IANA time zone; throws RangeError when there is no such zone. */
export function zoneClock(timezone: string): ZoneClock {
  const known = clocks.get(timezone)
  if (known) return known
  const clock = timezone === 'UTC' ? { stretchAt: () => UTC } : createZoneClock(timezone)
  clocks.set(timezone, clock)
  return clock
}

/**
 * Names that Node knows and IANA does not: Java's old ones. What they mean surprises: BST is the time
 * of Bangladesh, CST that of Chicago.
 */
const NOT_IANA =
  /^(?:systemv\/.*|act|aet|agt|art|ast|bet|bst|cat|cnt|cst|ctt|eat|ect|iet|ist|jst|mit|net|nst|plt|pnt|prt|pst|sst|vst)$/i

/** Whether the name is that of an IANA time zone. */
export function isTimezone(name: string): boolean {
  if (clocks.has(name)) return true
  // Some versions of Node take fixed offsets such as +05:30 for zones, others do not.
  if (!/^[A-Za-z]/.test(name) || NOT_IANA.test(name)) return false
  try {
    zoneClock(name)
    return true
  } catch {
    return false
  }
}

function createZoneClock(timezone: string): ZoneClock {
  const offsetAt = createOffsetAt(timezone)
  const blocks = new Map<number, ZoneStretch[]>()
  let last: ZoneStretch = { fromMs: 0, untilMs: 0, offsetMs: 0, offsetBeforeMs: 0 }

  return {
    stretchAt(atMs) {
      if (atMs >= last.fromMs && atMs < last.untilMs) return last
      const number = Math.floor(atMs / BLOCK)
      const block = blocks.get(number) ?? readBlock(number)
      last = block.find((stretch) => atMs < stretch.untilMs) ?? last
      return last
    },
  }

  function readBlock(number: number): ZoneStretch[] {
    const stretches = readStretches(number * BLOCK, (number + 1) * BLOCK)
    blocks.set(number, stretches)
    return stretches
  }

  /** Begins early enough to see a change whose effect reaches into the block. */
  function readStretches(fromMs: number, untilMs: number): ZoneStretch[] {
    const stretches: ZoneStretch[] = []
    const end = offsetAt(untilMs)
    let at = fromMs - EFFECT
    let offsetMs = offsetAt(at)
    let offsetBeforeMs = offsetMs
    while (offsetMs !== end) {
      const changeMs = findChange(at, untilMs)
      add(at, changeMs)
      offsetBeforeMs = offsetMs
      offsetMs = offsetAt(changeMs)
      at = changeMs
    }
    add(at, untilMs)
    return stretches

    function add(begin: number, stop: number): void {
      const effectEnd = Math.min(stop, begin + Math.abs(offsetMs - offsetBeforeMs))
      put(begin, effectEnd, offsetBeforeMs)
      put(effectEnd, stop, offsetMs)
    }

    function put(begin: number, stop: number, before: number): void {
      if (stop <= fromMs || stop <= begin) return
      stretches.push({
        fromMs: Math.max(begin, fromMs),
        untilMs: stop,
        offsetMs,
        offsetBeforeMs: before,
      })
    }
  }

  /** The first instant, to the second, whose offset is not that of `fromMs`. */
  function findChange(fromMs: number, untilMs: number): number {
    const coarse = bisect(fromMs, untilMs, 15 * MINUTE)
    // Clocks are changed on a quarter of an hour, except in a few years long ago.
    const second = coarse - SECOND
    if (second < fromMs || offsetAt(second) === offsetAt(fromMs)) return coarse
    return bisect(Math.max(fromMs, coarse - 15 * MINUTE), second, SECOND)
  }

  function bisect(fromMs: number, untilMs: number, stepMs: number): number {
    const offset = offsetAt(fromMs)
    let same = fromMs
    let other = untilMs
    while (other - same > stepMs) {
      const middle = Math.floor((same + other) / 2 / stepMs) * stepMs
      if (offsetAt(middle) === offset) same = middle
      else other = middle
    }
    return other
  }
}

/** A function that reads the offset of an instant off the zone's clock. */
function createOffsetAt(timezone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    year: 'numeric',
    timeZoneName: 'longOffset',
  })
  const offsets = new Map<string, number>()
  return (atMs) => {
    const text = format.format(atMs)
    const name = text.slice(text.indexOf('GMT'))
    const known = offsets.get(name)
    if (known !== undefined) return known
    const offset = readOffset(name)
    offsets.set(name, offset)
    return offset
  }
}

/** The ms of `GMT`, `GMT-03:30` or `GMT-00:44:30`. */
function readOffset(name: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = (name.match(/\d+/g) ?? []).map(Number)
  const offset = hours * HOUR + minutes * MINUTE + seconds * SECOND
  return name.includes('-') ? -offset : offset
}
