import { expect, test } from 'vitest'
import { CalendarSpec } from './calendar.ts'
import { decideTicks } from './decide-ticks.ts'
import { nextFiring } from './next-firing.ts'
import { ScheduleSpec } from './schedule.ts'

const at = (text: string): number => Date.parse(text)
const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())
const NOON = at('2026-12-24T12:00:00Z')

function version(fields: object, calendars: Record<string, object> = {}) {
  return {
    version: 1,
    fromMs: at('2026-01-01T00:00:00Z'),
    spec: ScheduleSpec.parse({ job: 'a', ...fields }),
    calendars: Object.fromEntries(
      Object.entries(calendars).map(([name, spec]) => [name, CalendarSpec.parse(spec)]),
    ),
  }
}

test.each([
  [{ every: '1m', paused: true }, undefined],
  [{ every: '1m', mode: 'shadow' }, '2026-12-24T12:01:00.000Z'],
  [{ cron: '0 12 * * *', startsAt: '2027-03-01T12:00:00Z' }, '2027-03-01T12:00:00.000Z'],
  [{ every: '1m', endsAt: '2026-12-24T12:01:00Z' }, '2026-12-24T12:01:00.000Z'],
  [{ every: '1m', endsAt: '2026-12-24T12:00:59Z' }, undefined],
])('with %j the next firing is %s', (fields, expected) => {
  expect(iso(nextFiring(version(fields), NOON))).toBe(expected)
})

test('a pause is passed over to its end, which is still in it; one without an end for ever', () => {
  const minutely = version({ every: '1m' })
  const pause = { fromMs: NOON, untilMs: NOON + 5 * 60_000 }
  expect(iso(nextFiring(minutely, NOON, [pause]))).toBe('2026-12-24T12:06:00.000Z')
  expect(nextFiring(minutely, NOON, [pause, { fromMs: NOON }])).toBeUndefined()
  const later = { fromMs: NOON + 2 * 60_000 }
  expect(iso(nextFiring(minutely, NOON, [later]))).toBe('2026-12-24T12:01:00.000Z')
})

test('calendars are passed over, whatever the number of ticks in them', () => {
  const holidays = {
    dates: ['12-25', '2026-12-26'],
    spans: [{ from: '2026-12-27T00:00', to: '2026-12-28T08:59:59' }],
  }
  const skip = version({ every: '1s', calendars: { skip: ['holidays'] } }, { holidays })
  expect(iso(nextFiring(skip, at('2026-12-24T23:59:59Z')))).toBe('2026-12-28T09:00:00.000Z')
  const only = version({ every: '1s', calendars: { only: ['holidays'] } }, { holidays })
  expect(iso(nextFiring(only, NOON))).toBe('2026-12-25T00:00:00.000Z')
  const never = version(
    { every: '1s', calendars: { only: ['past'] } },
    { past: { dates: ['2020-01-01'] } },
  )
  expect(nextFiring(never, NOON)).toBeUndefined()
})

test('it is the first tick that decideTicks fires, also across a clock change', () => {
  const days = { dates: ['10-25'], spans: [{ from: '2026-10-26T01:30', to: '2026-10-26T03:00' }] }
  const spec = { cron: '*/10 * * * *', timezone: 'Europe/Berlin', calendars: { skip: ['days'] } }
  const berlin = version(spec, { days })
  const pauses = [{ fromMs: at('2026-10-26T02:30:00Z'), untilMs: at('2026-10-26T04:00:00Z') }]
  for (const hour of ['2026-10-24T20:00:00Z', '2026-10-25T22:55:00Z', '2026-10-26T00:25:00Z']) {
    const nowMs = at(hour) + 86_400_000
    const { verdicts } = decideTicks(
      {
        ...berlin,
        spec: { ...berlin.spec, misfire: { policy: 'all', after: 2 * 86_400_000, limit: 1_000 } },
      },
      at(hour),
      { nowMs, pauses },
    )
    const fired = verdicts.find(({ verdict }) => verdict === 'fire')
    expect(nextFiring(berlin, at(hour), pauses)).toBe(fired?.tickAtMs)
  }
})
