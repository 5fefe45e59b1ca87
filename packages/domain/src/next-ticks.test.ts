import { expect, test } from 'vitest'
import { MINUTE } from './clock.ts'
import { ScheduleId } from './ids.ts'
import { jitterMs } from './jitter.ts'
import { localTime } from './local-time.ts'
import { nextTicks } from './next-ticks.ts'
import { ScheduleSpec, type ScheduleSpecInput } from './schedule.ts'

const ID = ScheduleId.parse('0190b5a0-0000-7000-8000-000000000001')
const NOON = Date.parse('2026-12-24T12:00:00Z')

function next(fields: Partial<ScheduleSpecInput>, pauses: { fromMs: number; untilMs?: number }[]) {
  const spec = ScheduleSpec.parse({ job: 'report.generate', ...fields })
  const calendars = { holidays: { dates: ['12-25', '12-26'], spans: [] } }
  const version = { version: 1, spec, fromMs: 0, calendars }
  return nextTicks(ID, version, { afterMs: NOON, count: 4, pauses }).map(
    ({ tickAtMs, reason = 'fires' }) =>
      `${new Date(tickAtMs).toISOString().slice(5, 16)} ${reason}`,
  )
}

test('says of each next tick whether a pause or a calendar will keep it', () => {
  const daily = { cron: '0 9 * * *', calendars: { skip: ['holidays'] } }
  const untilSunday = [{ fromMs: NOON - MINUTE, untilMs: Date.parse('2026-12-27T09:00:00Z') }]
  expect(next(daily, [])).toEqual([
    '12-25T09:00 calendar',
    '12-26T09:00 calendar',
    '12-27T09:00 fires',
    '12-28T09:00 fires',
  ])
  expect(next(daily, untilSunday)).toEqual([
    '12-25T09:00 paused',
    '12-26T09:00 paused',
    '12-27T09:00 paused',
    '12-28T09:00 fires',
  ])
})

test('the next ticks begin at startsAt and end with endsAt, both included', () => {
  const dates = { startsAt: '2026-12-30T09:00:00Z', endsAt: '2026-12-31T09:00:00Z' }
  expect(next({ cron: '0 9 * * *', ...dates }, [])).toEqual([
    '12-30T09:00 fires',
    '12-31T09:00 fires',
  ])
})

test('a run starts as much later as the jitter of its schedule makes it wait', () => {
  const spec = ScheduleSpec.parse({ job: 'report.generate', cron: '0 * * * *', jitter: '20m' })
  const [tick] = nextTicks(
    ID,
    { version: 1, spec, fromMs: 0 },
    { afterMs: NOON, count: 1, pauses: [] },
  )
  const waitMs = jitterMs(ID, spec)
  expect(waitMs).toBeGreaterThan(0)
  expect(tick?.startsAtMs).toBe(NOON + 60 * MINUTE + waitMs)
})

const told = (instant: string, zone: string) => localTime(Date.parse(instant), zone)

test('an instant is shown as the clock of a zone shows it', () => {
  expect(told('2026-03-29T01:30:00Z', 'Europe/Berlin')).toBe('2026-03-29T03:30:00+02:00')
  expect(told('2026-10-25T02:30:00Z', 'America/St_Johns')).toBe('2026-10-25T00:00:00-02:30')
  expect(told('2026-10-25T02:30:00.250Z', 'UTC')).toBe('2026-10-25T02:30:00.250+00:00')
  expect(told('1890-01-01T00:00:00Z', 'Europe/Paris')).toBe('1890-01-01T00:09:21+00:09:21')
})
