import { DAY, HOUR, MINUTE, SECOND } from '@jadwal/domain'
import { fires, type WrittenCron } from './written-cron.ts'

/** One minute that the clock shows, or leaves out. */
interface RealMinute {
  /** When it is; of a minute that is left out, when it would be by the clock before the gap. */
  atMs: number
  /** What the clock shows, as if it were UTC. */
  wallMs: number
  /** `again`: the clock has shown it before. `lost`: the clock never shows it. */
  kind: 'once' | 'again' | 'lost'
}

/** A zone's clock over some days, minute by minute. */
export type RealClock = readonly RealMinute[]

/** Reads a zone's clock in [fromMs, untilMs) off Intl. Slow on purpose: nothing is guessed. */
export function readRealClock(timezone: string, fromMs: number, untilMs: number): RealClock {
  const wallAt = createWallAt(timezone)
  const minutes: RealMinute[] = []
  let shownUntil = -Infinity
  let before = wallAt(fromMs) - MINUTE
  for (let atMs = fromMs; atMs < untilMs; atMs += MINUTE) {
    const wallMs = wallAt(atMs)
    for (let lost = before + MINUTE; lost < wallMs; lost += MINUTE)
      if (lost > shownUntil)
        minutes.push({ atMs: lost - before + atMs - MINUTE, wallMs: lost, kind: 'lost' })
    minutes.push({ atMs, wallMs, kind: wallMs > shownUntil ? 'once' : 'again' })
    shownUntil = Math.max(shownUntil, wallMs)
    before = wallMs
  }
  return minutes
}

/**
 * The instants in [fromMs, untilMs) at which a zone's clock is changed; of changes that cancel each
 * other out within twelve hours it knows nothing.
 */
export function clockChanges(timezone: string, fromMs: number, untilMs: number): number[] {
  const wallAt = createWallAt(timezone)
  const changes: number[] = []
  let before = wallAt(fromMs)
  for (let atMs = fromMs; atMs < untilMs; atMs += 12 * HOUR) {
    const after = wallAt(atMs + 12 * HOUR)
    if (after - before !== 12 * HOUR) changes.push(findChange(wallAt, atMs))
    before = after
  }
  return changes
}

function findChange(wallAt: (atMs: number) => number, fromMs: number): number {
  let atMs = fromMs
  while (wallAt(atMs + HOUR) - wallAt(atMs) === HOUR) atMs += HOUR
  do atMs += MINUTE
  while (wallAt(atMs) - wallAt(atMs - MINUTE) === MINUTE)
  return atMs
}

export interface Rule {
  gap: 'shift' | 'skip'
  fold: 'once' | 'twice'
}

/** The ticks in (afterMs, untilMs) by the rules as they are written, one minute after the other. */
export function oracleTicks(
  clock: RealClock,
  { cron, rule }: { cron: WrittenCron; rule: Rule },
  { afterMs, untilMs }: { afterMs: number; untilMs: number },
): number[] {
  const isTick = fires(cron)
  const ticks = new Set<number>()
  for (const { atMs, wallMs, kind } of clock) {
    if (atMs + MINUTE <= afterMs || atMs >= untilMs) continue
    // An hour field that begins with * follows real time: each instant that reads so on the clock.
    if (kind === 'lost' && (cron.hourStar || rule.gap === 'skip')) continue
    if (kind === 'again' && !cron.hourStar && rule.fold === 'once') continue
    if (!isTick.minute(wallMs)) continue
    for (let second = 0; second < 60; second += 1)
      if (isTick.second(second)) ticks.add(atMs + second * SECOND)
  }
  return [...ticks].filter((tick) => tick > afterMs && tick < untilMs).toSorted((a, b) => a - b)
}

/** Whether an expression names any day at all; 28 years hold every kind of year. */
export function hasDay(cron: WrittenCron): boolean {
  for (let dayMs = Date.UTC(2000); dayMs < Date.UTC(2028); dayMs += DAY)
    if (cron.day(new Date(dayMs))) return true
  return false
}

function createWallAt(timezone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return (atMs) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (
      format.format(atMs).match(/\d+/g) ?? []
    ).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute)
  }
}
