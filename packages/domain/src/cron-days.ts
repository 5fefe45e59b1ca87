import type { CronFields } from './cron-fields.ts'

/** A date of the proleptic Gregorian calendar; months and days count from 1. */
export interface CivilDate {
  year: number
  month: number
  day: number
}

/** The date of a day number (days since 1970-01-01). Howard Hinnant's `civil_from_days`. */
export function civilDate(dayNumber: number): CivilDate {
  const shifted = dayNumber + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}

/** The day number of the first of a month. */
export function firstDayNumber(year: number, month: number): number {
  const shiftedYear = month <= 2 ? year - 1 : year
  const era = Math.floor(shiftedYear / 400)
  const yearOfEra = shiftedYear - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5)
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/**
 * The days of one month on which an expression fires, as bits 1 to 31. Neither day field begins with
 * `*`: a day fires when either matches; else both must match (Vixie cron, Kubernetes).
 */
export function monthMask(fields: CronFields, year: number, month: number): number {
  if (!fields.months.includes(month)) return 0
  const first = firstDayNumber(year, month)
  const next = month === 12 ? firstDayNumber(year + 1, 1) : firstDayNumber(year, month + 1)
  const shape = { length: next - first, firstWeekday: weekdayOf(first) }
  const byDate = dateMask(fields.monthDays, shape)
  const byWeekday = weekdayMask(fields.weekDays, shape)
  return fields.monthDays.star || fields.weekDays.star ? byDate & byWeekday : byDate | byWeekday
}

interface MonthShape {
  length: number
  firstWeekday: number
}

function dateMask(field: CronFields['monthDays'], shape: MonthShape): number {
  let mask = 0
  for (const day of field.days) mask |= bit(day, shape)
  for (const before of field.beforeLast) mask |= bit(shape.length - before, shape)
  for (const day of field.nearest)
    if (day <= shape.length) mask |= bit(nearestWorkday(day, shape), shape)
  if (field.lastWorkday) mask |= bit(nearestWorkday(shape.length, shape), shape)
  return mask
}

function weekdayMask(field: CronFields['weekDays'], shape: MonthShape): number {
  let mask = 0
  for (const weekday of field.weekdays)
    for (let n = 1; n <= 5; n += 1) mask |= bit(nthOf(weekday, n, shape), shape)
  for (const { weekday, n } of field.nth) mask |= bit(nthOf(weekday, n, shape), shape)
  for (const weekday of field.last) {
    const fifth = nthOf(weekday, 5, shape)
    mask |= bit(fifth <= shape.length ? fifth : fifth - 7, shape)
  }
  return mask
}

function bit(day: number, shape: MonthShape): number {
  return day >= 1 && day <= shape.length ? 1 << day : 0
}

function nthOf(weekday: number, n: number, shape: MonthShape): number {
  return 1 + ((weekday - shape.firstWeekday + 7) % 7) + (n - 1) * 7
}

/** A Saturday gives way to Friday, a Sunday to Monday, but never out of the month. */
function nearestWorkday(day: number, shape: MonthShape): number {
  const weekday = (shape.firstWeekday + day - 1) % 7
  if (weekday === 6) return day === 1 ? 3 : day - 1
  if (weekday === 0) return day === shape.length ? day - 2 : day + 1
  return day
}

/** 1970-01-01 was a Thursday. */
function weekdayOf(dayNumber: number): number {
  return (((dayNumber + 4) % 7) + 7) % 7
}
