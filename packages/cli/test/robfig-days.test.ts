import { nextTick } from '@jadwal/domain'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { robfigStar, sameDays, starsForQuestionMarks } from '../src/day-fields.ts'

const DAY_MS = 86_400_000
const NOON_MS = DAY_MS / 2
const MONTH_DAYS = fc.constantFrom(
  '*',
  '?',
  '*/2',
  '*/1',
  '?/3',
  '13',
  '1,15',
  '10-20',
  '1-31',
  '*,5',
  '5,*',
  '5/9',
  '*/2,*',
)
const WEEK_DAYS = fc.constantFrom(
  '*',
  '?',
  '*/2',
  '*/3',
  '*/1',
  '1',
  '0,6',
  '1-5',
  '0-6',
  '*,1',
  '1/2',
  '2,*',
  '*/2,5',
)

/** A day field as robfig/cron v3 reads it: its numbers, and whether it counts as "every day". */
function robfigField(text: string, min: number, max: number): { days: Set<number>; star: boolean } {
  const days = new Set<number>()
  let star = false
  for (const atom of text.split(',')) {
    const [range = '', step] = atom.split('/')
    const [low = '', high] = range.split('-')
    const isStar = low === '*' || low === '?'
    const from = isStar ? min : Number(low)
    const open = isStar || (high === undefined && step !== undefined)
    const to = open ? max : Number(high ?? low)
    for (let day = from; day <= to; day += Number(step ?? 1)) days.add(day)
    star ||= isStar && Number(step ?? 1) === 1
  }
  return { days, star }
}

test('a CronJob fires on the days on which Kubernetes fires it', () => {
  fc.assert(
    fc.property(MONTH_DAYS, WEEK_DAYS, fc.nat(10_000), (monthDay, weekDay, day) => {
      const written = starsForQuestionMarks(`0 12 ${monthDay} * ${weekDay}`)
      const expression = sameDays(written, robfigStar)
      const dayMs = Date.UTC(2020, 0, 1) + day * DAY_MS
      const cadence = { timezone: 'UTC', gap: 'skip', fold: 'twice' } as const
      const fires = nextTick({ kind: 'cron', expression, ...cadence }, dayMs) === dayMs + NOON_MS
      const month = robfigField(monthDay, 1, 31)
      const week = robfigField(weekDay, 0, 6)
      const onMonthDay = month.days.has(new Date(dayMs).getUTCDate())
      const onWeekDay = week.days.has(new Date(dayMs).getUTCDay())
      const both = month.star || week.star
      expect(fires).toBe(both ? onMonthDay && onWeekDay : onMonthDay || onWeekDay)
    }),
    { numRuns: 3_000 },
  )
})
