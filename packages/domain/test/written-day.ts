import fc from 'fast-check'
import { atom, field, list, star, type Written } from './written-field.ts'

/** A day field together with the days it means. */
export interface WrittenDay {
  text: string
  /** Begins with `*` or is `?`. */
  star: boolean
  matches: (date: Date) => boolean
}

const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ')
const DAYS = { min: 1, max: 31 }

export const monthDay: fc.Arbitrary<WrittenDay> = fc.oneof(
  { weight: 3, arbitrary: any() },
  { weight: 2, arbitrary: field(DAYS).map((written) => readBy(written, dayOf)) },
  {
    weight: 3,
    arbitrary: days([
      atom(DAYS).map((written) => readBy(written, dayOf)),
      fc.constantFrom('L', 'l').map((text) => day(text, (date) => isBeforeLast(date, 0))),
      fc.nat(30).map((n) => day(`L-${n}`, (date) => isBeforeLast(date, n))),
      fc.constantFrom('LW', 'lw').map((text) => day(text, isLastWorkday)),
      fc.integer(DAYS).map((n) => day(`${n}W`, (date) => isNearestWorkday(date, n))),
    ]),
  },
)

export const weekDay: fc.Arbitrary<WrittenDay> = fc.oneof(
  { weight: 4, arbitrary: any() },
  {
    weight: 2,
    arbitrary: field({ min: 0, max: 6, words: WEEKDAYS }).map((written) =>
      readBy(written, weekdayOf),
    ),
  },
  {
    weight: 3,
    arbitrary: days([
      list(atom({ min: 0, max: 6, words: WEEKDAYS })).map((written) => readBy(written, weekdayOf)),
      untilSunday(),
      weekday().map(([text, n]) =>
        day(`${text}L`, (date) => weekdayOf(date) === n && !hasLater(date, n)),
      ),
      fc
        .tuple(weekday(), fc.integer({ min: 1, max: 5 }))
        .map(([[text, n], count]) =>
          day(
            `${text}#${count}`,
            (date) => weekdayOf(date) === n && Math.ceil(dayOf(date) / 7) === count,
          ),
        ),
    ]),
  },
)

function any(): fc.Arbitrary<WrittenDay> {
  return fc.constantFrom('*', '?').map((text) => ({ text, star: true, matches: () => true }))
}

function day(text: string, matches: (date: Date) => boolean): WrittenDay {
  return { text, star: false, matches }
}

function readBy({ text, matches }: Written, read: (date: Date) => number): WrittenDay {
  return { text, star: text.startsWith(star.text), matches: (date) => matches(read(date)) }
}

/** One to three days, any of which may match. */
function days(parts: fc.Arbitrary<WrittenDay>[]): fc.Arbitrary<WrittenDay> {
  return fc
    .array(fc.oneof(...parts), { minLength: 1, maxLength: 3 })
    .map((some) =>
      day(some.map(({ text }) => text).join(','), (date) =>
        some.some(({ matches }) => matches(date)),
      ),
    )
}

/** A weekday by number, also 7, or by name. */
function weekday(): fc.Arbitrary<[text: string, n: number]> {
  return fc.oneof(
    fc.nat(7).map((n): [string, number] => [`${n}`, n % 7]),
    fc.nat(6).map((n): [string, number] => [WEEKDAYS[n] ?? '', n]),
  )
}

/** `7`, and ranges that end with it. */
function untilSunday(): fc.Arbitrary<WrittenDay> {
  return fc
    .integer({ min: 1, max: 7 })
    .map((from) =>
      day(
        from === 7 ? '7' : `${from}-7`,
        (date) => weekdayOf(date) === 0 || weekdayOf(date) >= from,
      ),
    )
}

/** So many days lie between a date and the last of its month. */
function isBeforeLast(date: Date, count: number): boolean {
  return dayOf(lastOfMonth(date)) - dayOf(date) === count
}

function isLastWorkday(date: Date): boolean {
  return workdays(date).at(-1) === dayOf(date)
}

/** Of the month's Mondays to Fridays none is nearer to the n-th. */
function isNearestWorkday(date: Date, n: number): boolean {
  if (n > dayOf(lastOfMonth(date))) return false
  const [nearest] = workdays(date).toSorted((a, b) => Math.abs(a - n) - Math.abs(b - n))
  return nearest === dayOf(date)
}

function hasLater(date: Date, n: number): boolean {
  return daysOfMonth(date).some((later) => dayOf(later) > dayOf(date) && weekdayOf(later) === n)
}

function workdays(date: Date): number[] {
  return daysOfMonth(date)
    .filter((other) => weekdayOf(other) % 6 !== 0)
    .map(dayOf)
}

const months = new Map<number, readonly Date[]>()

function daysOfMonth(date: Date): readonly Date[] {
  const last = lastOfMonth(date)
  const known =
    months.get(last.getTime()) ??
    Array.from(
      { length: dayOf(last) },
      (_, index) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), index + 1)),
    )
  months.set(last.getTime(), known)
  return known
}

function lastOfMonth(date: Date): Date {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0))
}

function dayOf(date: Date): number {
  return date.getUTCDate()
}

function weekdayOf(date: Date): number {
  return date.getUTCDay()
}
