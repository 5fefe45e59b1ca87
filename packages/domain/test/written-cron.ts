import { DAY } from '@jadwal/domain'
import fc from 'fast-check'
import { monthDay, weekDay } from './written-day.ts'
import { field, list, atom, star, type Written } from './written-field.ts'

/** An expression together with what it means, told without any parsing. */
export interface WrittenCron {
  expression: string
  hourStar: boolean
  second: (value: number) => boolean
  minute: (value: number) => boolean
  hour: (value: number) => boolean
  day: (date: Date) => boolean
}

const SIXTY = { min: 0, max: 59 }
const MONTHS = {
  min: 1,
  max: 12,
  words: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
}

/** Any expression of five fields, weighted towards the hours in which clocks change. */
export const writtenCron: fc.Arbitrary<WrittenCron> = written(undefined)

/** Any expression of six fields. */
export const writtenCronOfSeconds: fc.Arbitrary<WrittenCron> = written(field(SIXTY))

function written(seconds: fc.Arbitrary<Written> | undefined): fc.Arbitrary<WrittenCron> {
  return fc
    .record({
      second: seconds ?? fc.constant(undefined),
      minute: field(SIXTY),
      hour: fc.oneof(field({ min: 0, max: 23 }), list(atom({ min: 0, max: 4 }))),
      days: monthDay,
      month: fc.oneof({ weight: 3, arbitrary: fc.constant(star) }, field(MONTHS)),
      weekdays: weekDay,
    })
    .map(({ second, minute, hour, days, month, weekdays }) => ({
      expression: [second, minute, hour, days, month, weekdays]
        .flatMap((part) => part?.text ?? [])
        .join(' '),
      hourStar: hour.text.startsWith('*'),
      second: second?.matches ?? ((value) => value === 0),
      minute: minute.matches,
      hour: hour.matches,
      day: (date) => {
        if (!month.matches(date.getUTCMonth() + 1)) return false
        if (days.star || weekdays.star) return days.matches(date) && weekdays.matches(date)
        return days.matches(date) || weekdays.matches(date)
      },
    }))
}

/** What an expression means, asked often: every answer is worked out once. */
export function fires(cron: WrittenCron): {
  minute: (wallMs: number) => boolean
  second: (value: number) => boolean
} {
  const seconds = Array.from({ length: 60 }, (_, value) => cron.second(value))
  const minutes = Array.from({ length: 60 }, (_, value) => cron.minute(value))
  const hours = Array.from({ length: 24 }, (_, value) => cron.hour(value))
  const days = new Map<number, boolean>()
  return {
    second: (value) => seconds[value] ?? false,
    minute(wallMs) {
      const minute = Math.floor(wallMs / 60_000)
      if (!minutes[minute % 60] || !hours[Math.floor(minute / 60) % 24]) return false
      const dayMs = Math.floor(wallMs / DAY) * DAY
      const known = days.get(dayMs) ?? cron.day(new Date(dayMs))
      days.set(dayMs, known)
      return known
    },
  }
}
