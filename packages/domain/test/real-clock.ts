import { MINUTE } from '@jadwal/domain'

/** A zone's clock over some days, read minute by minute from Intl. */
export interface RealClock {
  /** Each minute of real time and what the clock shows then, as if it were UTC. */
  minutes: { atMs: number; wallMs: number }[]
}

/** Reads the clock of a zone in [fromMs, untilMs). Slow on purpose: nothing is guessed or cached. */
export function readRealClock(timezone: string, fromMs: number, untilMs: number): RealClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const minutes: RealClock['minutes'] = []
  for (let atMs = fromMs; atMs < untilMs; atMs += MINUTE) {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (
      format.format(atMs).match(/\d+/g) ?? []
    ).map(Number)
    minutes.push({ atMs, wallMs: Date.UTC(year, month - 1, day, hour, minute) })
  }
  return { minutes }
}

export interface Rules {
  matches: (wallMs: number) => boolean
  hourStar: boolean
  gap: 'shift' | 'skip'
  fold: 'once' | 'twice'
}

/** The ticks of a stretch of real time by the rules as they are written, one wall time after the other. */
export function oracleTicks({ minutes }: RealClock, rules: Rules): number[] {
  const ticks = new Set<number>()
  const seen = new Set<number>()
  let before = minutes[0]
  for (const minute of minutes) {
    const { atMs, wallMs } = minute
    for (let lost = (before?.wallMs ?? wallMs) + MINUTE; lost < wallMs; lost += MINUTE)
      if (!rules.hourStar && rules.gap === 'shift' && !seen.has(lost) && rules.matches(lost))
        ticks.add(lost - ((before?.wallMs ?? 0) - (before?.atMs ?? 0)))
    const counts = rules.hourStar || rules.fold === 'twice' || !seen.has(wallMs)
    if (counts && rules.matches(wallMs)) ticks.add(atMs)
    seen.add(wallMs)
    before = minute
  }
  return [...ticks].toSorted((a, b) => a - b)
}
