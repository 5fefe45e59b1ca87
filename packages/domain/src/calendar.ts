import { z } from 'zod'
import { DAY } from './clock.ts'
import { Timezone } from './timezone.ts'
import { zoneClock } from './zone-clock.ts'

const DATE = /^(?:(\d{4})-)?(\d{2})-(\d{2})$/
const WALL_TIME = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2}))?)?$/
const DATE_RULE = 'must be a date such as 2026-12-25, or 12-25 for every year'
const TIME_RULE =
  'must be a date or a time of the local clock, such as 2026-12-24 or 2026-12-24T18:00'
/** A leap year: 02-29 is a date, in years that have one. */
const SOME_LEAP_YEAR = '2024'

const CalendarDate = z.string(DATE_RULE).refine(isDate, { error: DATE_RULE })
const WallTime = z.string(TIME_RULE).refine(isWallTime, { error: TIME_RULE })

const Span = z
  .strictObject({ from: WallTime, to: WallTime })
  .refine(({ from, to }) => startOf(from) < endOf(to), { error: 'to must not be before from' })

/**
 * A named list of dates and spans, such as holidays or a freeze, that schedules skip or keep to.
 * Dates and times are those of the local clock in `timezone`, else in the schedule's own zone. Both
 * ends of a span are in it: a date as `to` means that whole day, a time means up to that second.
 */
export const CalendarSpec = z.strictObject({
  description: z.string().max(1_000).optional(),
  timezone: Timezone.optional(),
  dates: z.array(CalendarDate).max(10_000, 'has too many dates, at most 10000').default([]),
  spans: z.array(Span).max(10_000, 'has too many spans, at most 10000').default([]),
})
export type CalendarSpec = z.output<typeof CalendarSpec>

/** Calendars by name. */
export type Calendars = Readonly<Record<string, CalendarSpec>>

/**
 * Stored calendars. One that does not parse is left out: better to fire than to rest for no visible
 * reason. What thousands of schedules share is parsed once: a stored calendar is never changed in place.
 */
export function readCalendars(stored: Readonly<Record<string, unknown>>): Calendars {
  return Object.fromEntries(
    Object.entries(stored).flatMap(([name, spec]) => {
      const calendar = readCalendar(spec)
      return calendar ? [[name, calendar]] : []
    }),
  )
}

const parsed = new WeakMap<object, CalendarSpec | null>()

function readCalendar(stored: unknown): CalendarSpec | null {
  if (typeof stored !== 'object' || stored === null) return null
  const known = parsed.get(stored)
  if (known !== undefined) return known
  const calendar = CalendarSpec.safeParse(stored).data ?? null
  parsed.set(stored, calendar)
  return calendar
}

/** Which calendars a schedule skips, and which it keeps to. */
export const CalendarChoice = z
  .strictObject({
    skip: z.array(z.string()).max(20).default([]),
    only: z.array(z.string()).max(20).default([]),
  })
  .optional()
export type CalendarChoice = z.output<typeof CalendarChoice>

/** Whether an instant lies on one of the calendar's dates or in one of its spans. */
export function isInCalendar(calendar: CalendarSpec, timezone: string, atMs: number): boolean {
  const { offsetMs } = zoneClock(calendar.timezone ?? timezone).stretchAt(atMs)
  const wallMs = atMs + offsetMs
  const { spans, yearly } = compile(calendar)
  if (yearly.size > 0 && yearly.has(new Date(wallMs).toISOString().slice(5, 10))) return true
  const at = lastStartingBy(spans, wallMs)
  return at !== undefined && wallMs < at.endMs
}

/** An instant before which `isInCalendar` gives the same answer as at `atMs`. */
export function calendarHoldsUntil(calendar: CalendarSpec, timezone: string, atMs: number): number {
  const { offsetMs, untilMs } = zoneClock(calendar.timezone ?? timezone).stretchAt(atMs)
  const wallMs = atMs + offsetMs
  const { spans, yearly } = compile(calendar)
  const at = lastStartingBy(spans, wallMs)
  const inSpan = at !== undefined && wallMs < at.endMs
  const next = inSpan ? at.endMs : (firstStartingAfter(spans, wallMs)?.startMs ?? Infinity)
  const endOfDay = yearly.size > 0 ? Math.floor(wallMs / DAY) * DAY + DAY : Infinity
  return Math.min(next - offsetMs, endOfDay - offsetMs, untilMs)
}

/** Names that a choice refers to. */
export function calendarNames(choice: CalendarChoice): string[] {
  return choice ? [...choice.skip, ...choice.only] : []
}

interface WallSpan {
  startMs: number
  /** Exclusive. */
  endMs: number
}

interface CompiledCalendar {
  /** In order, none touching another. */
  spans: readonly WallSpan[]
  /** `12-25` */
  yearly: ReadonlySet<string>
}

const compiled = new WeakMap<CalendarSpec, CompiledCalendar>()

function compile(calendar: CalendarSpec): CompiledCalendar {
  const known = compiled.get(calendar)
  if (known) return known
  const days = calendar.dates.filter((date) => !isYearly(date))
  const spans = [
    ...days.map((date) => ({ startMs: startOf(date), endMs: endOf(date) })),
    ...calendar.spans.map(({ from, to }) => ({ startMs: startOf(from), endMs: endOf(to) })),
  ]
  const result = { spans: merged(spans), yearly: new Set(calendar.dates.filter(isYearly)) }
  compiled.set(calendar, result)
  return result
}

function isYearly(date: string): boolean {
  return date.length === 5
}

function merged(spans: readonly WallSpan[]): WallSpan[] {
  const result: WallSpan[] = []
  for (const span of spans.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = result.at(-1)
    if (last && span.startMs <= last.endMs) last.endMs = Math.max(last.endMs, span.endMs)
    else result.push({ ...span })
  }
  return result
}

function lastStartingBy(spans: readonly WallSpan[], wallMs: number): WallSpan | undefined {
  return spans[countStartingBy(spans, wallMs) - 1]
}

function firstStartingAfter(spans: readonly WallSpan[], wallMs: number): WallSpan | undefined {
  return spans[countStartingBy(spans, wallMs)]
}

function countStartingBy(spans: readonly WallSpan[], wallMs: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.startMs ?? Infinity) <= wallMs) low = middle + 1
    else high = middle
  }
  return low
}

function startOf(text: string): number {
  return Date.parse(text.length === 10 ? `${text}T00:00:00Z` : `${text}Z`)
}

/** Exclusive. */
function endOf(text: string): number {
  return startOf(text) + (text.length === 10 ? DAY : text.length === 16 ? 60_000 : 1_000)
}

function isDate(text: string): boolean {
  const [, year = SOME_LEAP_YEAR, month, day] = DATE.exec(text) ?? []
  return month !== undefined && existsOnCalendar(`${year}-${month}-${day}`)
}

function isWallTime(text: string): boolean {
  const [, date, hour = '00', minute = '00', second = '00'] = WALL_TIME.exec(text) ?? []
  if (date === undefined || !existsOnCalendar(date)) return false
  return Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
}

/** 31 April is read by Date as 1 May. */
function existsOnCalendar(date: string): boolean {
  const at = Date.parse(`${date}T00:00:00Z`)
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(date)
}
