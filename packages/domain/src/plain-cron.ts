import { parseCron } from './cron.ts'
import type { CronFields } from './cron-fields.ts'

/** An expression in the few forms that every reader of cron takes alike. */
export interface PlainCron {
  /** Each is `*`, `*` with a step that comes out even, a number, a list of numbers, or a range. */
  seconds: string
  minutes: string
  hours: string
  /** A number, list or range, or one of `L`, `L-3`, `LW` and `15W`. */
  monthDays: string
  months: string
  /** Sunday is 0. A number, list or range, or one of `5L` and `2#1`. */
  weekDays: string
  /** Of days that both day fields restrict: either is enough, or both must match. */
  days: 'either' | 'both'
}

/**
 * An expression, taken apart and written anew in plain forms: what it means in our dialect is told by
 * these whatever they are read with. Undefined for an interval, and for days of several kinds at
 * once, such as `1,L`. Throws CronError.
 */
export function plainCron(expression: string): PlainCron | undefined {
  const cron = parseCron(expression)
  if (cron.everyMs !== undefined) return undefined
  const { fields } = cron
  const { star: dayStar } = fields.monthDays
  const { star: weekdayStar } = fields.weekDays
  const monthDays = monthDaysText(fields.monthDays)
  const weekDays = weekDaysText(fields.weekDays)
  if (monthDays === undefined || weekDays === undefined) return undefined
  const days = dayStar || weekdayStar ? 'both' : 'either'
  // Either is enough, and one of them is every day.
  const daily = days === 'either' && (monthDays === '*' || weekDays === '*')
  const once = fields.seconds.length === 1
  return {
    seconds: text(fields.seconds, { min: 0, max: 59, steps: true }),
    minutes: text(fields.minutes, { min: 0, max: 59, steps: once }),
    hours: text(fields.hours, { min: 0, max: 23, steps: once && fields.minutes.length === 1 }),
    months: text(fields.months, { min: 1, max: 12, steps: false }),
    monthDays: daily ? '*' : monthDays,
    weekDays: daily ? '*' : weekDays,
    days,
  }
}

function monthDaysText(of: CronFields['monthDays']): string | undefined {
  const special = [
    ...of.beforeLast.map((days) => (days === 0 ? 'L' : `L-${days}`)),
    ...of.nearest.map((day) => `${day}W`),
    ...(of.lastWorkday ? ['LW'] : []),
  ]
  return oneKind(special, of.days, { min: 1, max: 31, steps: false })
}

function weekDaysText(of: CronFields['weekDays']): string | undefined {
  const special = [
    ...of.nth.map(({ weekday, n }) => `${weekday}#${n}`),
    ...of.last.map((weekday) => `${weekday}L`),
  ]
  return oneKind(special, of.weekdays, { min: 0, max: 6, steps: false })
}

interface Span {
  min: number
  max: number
  steps: boolean
}

function oneKind(
  special: readonly string[],
  numbers: readonly number[],
  span: Span,
): string | undefined {
  if (special.length === 0) return text(numbers, span)
  return special.length === 1 && numbers.length === 0 ? special[0] : undefined
}

function text(numbers: readonly number[], { min, max, steps }: Span): string {
  const [first = min, second = first] = numbers
  const last = numbers.at(-1) ?? first
  const step = second - first
  const size = max - min + 1
  const isEven = numbers.every((value, at) => value === first + at * step)
  if (numbers.length === size) return '*'
  if (numbers.length === 1) return String(first)
  if (isEven && step === 1 && numbers.length > 2) return `${first}-${last}`
  if (steps && isEven && first === min && numbers.length * step === size) return `*/${step}`
  return numbers.join(',')
}
