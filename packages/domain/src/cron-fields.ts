import {
  CronError,
  type CronField,
  DAY_FIELD,
  HOUR_FIELD,
  MINUTE_FIELD,
  MONTH_FIELD,
  PartError,
  quoted,
  readAtom,
  readField,
  readNumber,
  SECOND_FIELD,
  WEEKDAY_FIELD,
} from './cron-field.ts'

/** The days of a month that a day-of-month field names. */
interface MonthDays {
  /** Begins with `*` (also `*` + step) or is `?`: then both day fields must match. */
  star: boolean
  days: readonly number[]
  /** Days before the last one: `L` is 0, `L-3` is 3. */
  beforeLast: readonly number[]
  /** The Monday-to-Friday nearest to a day of the same month: `15W` is 15. */
  nearest: readonly number[]
  /** `LW`: the last Monday-to-Friday. */
  lastWorkday: boolean
}

/** The weekdays that a day-of-week field names; Sunday is 0. */
interface WeekDays {
  star: boolean
  weekdays: readonly number[]
  /** `2#1`: the first Tuesday of the month. */
  nth: readonly { weekday: number; n: number }[]
  /** `5L`: the last Friday of the month. */
  last: readonly number[]
}

/** A cron expression taken apart. Number lists ascend and hold no value twice. */
export interface CronFields {
  seconds: readonly number[]
  minutes: readonly number[]
  hours: readonly number[]
  /** The hour field begins with `*`: the expression follows real time through clock changes. */
  hourStar: boolean
  monthDays: MonthDays
  months: readonly number[]
  weekDays: WeekDays
}

const NICKNAMES = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/** Takes an expression of 5 fields, of 6 (seconds first), or an `@name` apart. Throws CronError. */
export function readCronFields(expression: string): CronFields {
  const texts = fieldTexts(expression.trim())
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = ''] = texts
  return {
    seconds: readNumbers(SECOND_FIELD, second),
    minutes: readNumbers(MINUTE_FIELD, minute),
    hours: readNumbers(HOUR_FIELD, hour),
    hourStar: hour.startsWith('*'),
    monthDays: readField(DAY_FIELD, day, () => readMonthDays(day)),
    months: readNumbers(MONTH_FIELD, month),
    weekDays: readField(WEEKDAY_FIELD, weekday, () => readWeekDays(weekday)),
  }
}

/** The six texts, seconds first. */
function fieldTexts(expression: string): string[] {
  if (expression === '') throw new CronError('is empty; write 5 fields, for example "30 2 * * *"')
  if (expression.startsWith('@')) return ['0', ...nickname(expression).split(' ')]
  const texts = expression.split(/\s+/)
  if (texts.length === 5) return ['0', ...texts]
  if (texts.length === 6) return texts
  throw new CronError(
    `${quoted(expression)} has ${texts.length} field${texts.length === 1 ? '' : 's'}; allowed are 5 (minute, hour, day of month, month, day of week) or 6 (second first)`,
  )
}

function nickname(expression: string): string {
  const known = NICKNAMES.get(expression.toLowerCase())
  if (known !== undefined) return known
  const why = /^@reboot$/i.test(expression)
    ? 'means the start of a machine, which is no point in time'
    : 'is no known name'
  const allowed = [...NICKNAMES.keys(), '@every 90s'].join(', ')
  throw new CronError(`${quoted(expression)} ${why}; allowed are ${allowed}`)
}

function readNumbers(field: CronField, text: string): number[] {
  return readField(field, text, () => {
    if (text === '?')
      throw new PartError(text, '"?" goes with day of month and day of week only; write "*"')
    return ascending(text.split(',').flatMap((atom) => readAtom(field, atom)))
  })
}

function readMonthDays(text: string): MonthDays {
  const found = {
    days: [] as number[],
    beforeLast: [] as number[],
    nearest: [] as number[],
    lastWorkday: false,
  }
  for (const atom of text === '?' ? ['*'] : text.split(',')) {
    const last = /^L(?:-(\d{1,2}))?$/i.exec(atom)
    const nearest = /^(\d{1,2})W$/i.exec(atom)
    if (/^LW$/i.test(atom)) found.lastWorkday = true
    else if (last) found.beforeLast.push(daysBeforeLast(atom, Number(last[1] ?? 0)))
    else if (nearest) found.nearest.push(readNumber(DAY_FIELD, nearest[1] ?? ''))
    else found.days.push(...readAtom(DAY_FIELD, atom))
  }
  return { star: text.startsWith('*') || text === '?', ...found, days: ascending(found.days) }
}

function daysBeforeLast(atom: string, days: number): number {
  if (days > 30) throw new PartError(atom, 'no month has that many days before its last')
  return days
}

function readWeekDays(text: string): WeekDays {
  const found = {
    weekdays: [] as number[],
    nth: [] as WeekDays['nth'][number][],
    last: [] as number[],
  }
  for (const atom of text === '?' ? ['*'] : text.split(',')) {
    const nth = /^(\w+)#(\d+)$/.exec(atom)
    const last = /^(\w*)L$/i.exec(atom)
    if (nth) found.nth.push(nthWeekday(atom, nth[1] ?? '', Number(nth[2])))
    else if (last) found.last.push(lastWeekday(atom, last[1] ?? ''))
    else found.weekdays.push(...readAtom(WEEKDAY_FIELD, atom).map((weekday) => weekday % 7))
  }
  return {
    star: text.startsWith('*') || text === '?',
    ...found,
    weekdays: ascending(found.weekdays),
  }
}

function nthWeekday(atom: string, weekday: string, n: number): { weekday: number; n: number } {
  if (n < 1 || n > 5) throw new PartError(atom, 'a weekday comes at most 5 times, #1-#5')
  return { weekday: readNumber(WEEKDAY_FIELD, weekday) % 7, n }
}

function lastWeekday(atom: string, weekday: string): number {
  if (weekday === '') throw new PartError(atom, 'name the weekday: 5L is the last Friday')
  return readNumber(WEEKDAY_FIELD, weekday) % 7
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].toSorted((a, b) => a - b)
}
