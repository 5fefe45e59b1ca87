import { expect, test } from 'vitest'
import { backfillTicks } from './backfill.ts'
import { CalendarSpec } from './calendar.ts'
import { ScheduleSpec } from './schedule.ts'

const FROM = Date.parse('2026-01-01T00:00:00Z')
const YEAR_END = Date.parse('2026-12-31T23:59:59Z')

function rangeOf(rule: Record<string, unknown>, calendar: Record<string, unknown>) {
  return {
    fromMs: FROM,
    untilMs: YEAR_END,
    spec: ScheduleSpec.parse({ job: 'report', ...rule }),
    calendars: { days: CalendarSpec.parse(calendar) },
  }
}

test('the days before the one that a schedule keeps to are jumped over, and it comes to an end', () => {
  const range = rangeOf({ every: '1s', calendars: { only: ['days'] } }, { dates: ['2026-12-24'] })
  const first = backfillTicks(range, FROM, 2)
  expect(first).toMatchObject({ keptFrom: 1, end: false })
  expect(first.ticks.map((tick) => new Date(tick).toISOString())).toEqual([
    '2026-12-24T00:00:00.000Z',
    '2026-12-24T00:00:01.000Z',
  ])
  const last = backfillTicks(range, Date.parse('2026-12-24T23:59:58Z'), 2)
  expect(last.ticks).toEqual([Date.parse('2026-12-24T23:59:59Z')])
  expect(last).toMatchObject({ positionMs: YEAR_END, end: true })
})

test('a call that finds no tick for long stops, and the next ones go on where it was', () => {
  const spans = Array.from({ length: 5_000 }, (_, at) => {
    const second = new Date(FROM + at * 2_000).toISOString().slice(0, 19)
    return { from: second, to: second }
  })
  const range = rangeOf(
    { every: '1s', offset: '500ms', calendars: { skip: ['days', 'odd'] } },
    { spans },
  )
  const odd = spans.map(({ from }) => {
    const second = new Date(Date.parse(`${from}Z`) + 1_000).toISOString().slice(0, 19)
    return { from: second, to: second }
  })
  const calendars = { ...range.calendars, odd: CalendarSpec.parse({ spans: odd }) }
  let [stretch, calls] = [backfillTicks({ ...range, calendars }, FROM, 1), 1]
  for (; stretch.ticks.length === 0 && calls < 10; calls += 1) {
    expect(stretch.keptFrom).toBeLessThanOrEqual(2_000)
    stretch = backfillTicks({ ...range, calendars }, stretch.positionMs, 1)
  }
  expect(calls).toBe(6)
  expect(stretch.ticks).toEqual([FROM + 10_000_500])
})
