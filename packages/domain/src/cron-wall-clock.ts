import { DAY, SECOND } from './clock.ts'
import { civilDate, firstDayNumber, monthMask } from './cron-days.ts'
import type { CronFields } from './cron-fields.ts'

/**
 * Beyond this many months without a match an expression counts as never firing. The rarest date
 * there is, a 29 February on a given weekday, comes back within 40 years.
 */
const HORIZON_MONTHS = 50 * 12

/** Finds the wall times that an expression names, without any zone. */
export interface WallClock {
  /**
   * The first matching wall time strictly after `wallMs`, both as if the clock showed UTC; undefined
   * when there is none within 50 years.
   */
  next(wallMs: number): number | undefined
}

/** Prepares the tables that make `next` cheap: a few lookups for a day that matches. */
export function createWallClock(fields: CronFields): WallClock {
  const seconds = successors(fields.seconds, 60)
  const minutes = successors(fields.minutes, 60)
  const hours = successors(fields.hours, 24)
  const first = timeFrom(0)
  let asked = { day: Number.NaN, matches: false }
  let maskOf = { month: Number.NaN, mask: 0 }

  return {
    next(wallMs) {
      const day = Math.floor(wallMs / DAY)
      const second = Math.floor((wallMs - day * DAY) / SECOND) + 1
      const time = second < 86_400 && matches(day) ? timeFrom(second) : -1
      if (time !== -1) return day * DAY + time * SECOND
      const matching = matchingDay(day + 1, HORIZON_MONTHS)
      return matching === undefined ? undefined : matching * DAY + first * SECOND
    },
  }

  /** The first matching second of the day at or after `second`; -1 when there is none. */
  function timeFrom(second: number): number {
    const h = Math.floor(second / 3_600)
    const m = Math.floor(second / 60) % 60
    const hour = hours[h] ?? -1
    if (hour === -1) return -1
    if (hour === h) {
      const minute = minutes[m] ?? -1
      if (minute === m) {
        const s = seconds[second % 60] ?? -1
        if (s !== -1) return h * 3_600 + m * 60 + s
      }
      const later = minute === m ? (minutes[m + 1] ?? -1) : minute
      if (later !== -1) return h * 3_600 + later * 60 + (seconds[0] ?? 0)
    }
    const later = hour === h ? (hours[h + 1] ?? -1) : hour
    return later === -1 ? -1 : later * 3_600 + (minutes[0] ?? 0) * 60 + (seconds[0] ?? 0)
  }

  /** Ticks are mostly asked for one after the other: the day is the same again and again. */
  function matches(day: number): boolean {
    if (day !== asked.day) asked = { day, matches: matchingDay(day, 0) === day }
    return asked.matches
  }

  /** The first matching day at or after `from`, looked for in its month and `months` more. */
  function matchingDay(from: number, months: number): number | undefined {
    const date = civilDate(from)
    const firstMonth = date.year * 12 + date.month - 1
    for (let month = firstMonth; month <= firstMonth + months; month += 1) {
      const all = month === maskOf.month ? maskOf.mask : maskFor(month)
      const mask = month === firstMonth ? all & (-1 << date.day) : all
      if (mask !== 0) {
        const day = 31 - Math.clz32(mask & -mask)
        return firstDayNumber(Math.floor(month / 12), (month % 12) + 1) + day - 1
      }
    }
    return undefined
  }

  function maskFor(month: number): number {
    maskOf = { month, mask: monthMask(fields, Math.floor(month / 12), (month % 12) + 1) }
    return maskOf.mask
  }
}

/** For each number below `size` the first allowed one at or after it, -1 when there is none. */
function successors(allowed: readonly number[], size: number): Int8Array {
  const table = new Int8Array(size).fill(-1)
  let next = -1
  for (let value = size - 1; value >= 0; value -= 1) {
    if (allowed.includes(value)) next = value
    table[value] = next
  }
  return table
}
