import { expect, test } from 'vitest'
import { scheduleCadence, ScheduleSpec, type ScheduleSpecInput } from './schedule.ts'

const BASE: ScheduleSpecInput = { job: 'report.generate', cron: '0 6 1 * *' }

function problems(fields: Record<string, unknown>): string[] {
  const { error } = ScheduleSpec.safeParse({ ...BASE, ...fields })
  return (error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`)
}

test('fills its defaults and turns durations into milliseconds', () => {
  expect(ScheduleSpec.parse({ ...BASE, lateAfter: '10m' })).toEqual({
    job: 'report.generate',
    cron: '0 6 1 * *',
    timezone: 'UTC',
    payload: {},
    overlap: 'skip',
    misfire: { policy: 'once', after: 60_000, limit: 100 },
    dst: { gap: 'shift', fold: 'once' },
    paused: false,
    mode: 'live',
    lateAfter: 600_000,
  })
})

test('takes every field of the contract', () => {
  const spec = ScheduleSpec.parse({
    ...BASE,
    description: 'Billing report of the previous month',
    timezone: 'Asia/Jakarta',
    payload: { kind: 'monthly' },
    overlap: 'allow',
    misfire: { policy: 'all', after: '60s', limit: 100, within: '6h' },
    dst: { gap: 'skip', fold: 'twice' },
    jitter: '30s',
    startsAt: new Date('2026-01-01T00:00:00Z'),
    endsAt: '2027-01-01T00:00:00+07:00',
    labels: { team: 'billing' },
    alert: 'ops@example.com',
    attempts: 5,
    timeoutMs: 60_000,
    priority: 10,
  })
  expect(spec).toMatchObject({ startsAt: '2026-01-01T00:00:00.000Z', jitter: 30_000 })
})

test.each([
  [{ cron: undefined }, 'cron: write exactly one of cron and every'],
  [{ every: '1s' }, 'cron: write exactly one of cron and every'],
  [{ offset: '1s' }, 'offset: goes with every, not with cron'],
  [{ cron: undefined, every: '999ms' }, 'every: must be at least 1s'],
  [{ cron: undefined, every: '367d' }, 'every: must be at most 366d'],
  [{ cron: undefined, every: '1m', offset: '1m' }, 'offset: must be shorter than every'],
  [
    { cron: undefined, every: '1m', jitter: '1m' },
    'jitter: must be shorter than the shortest interval, 1m',
  ],
  [
    { cron: '*/15 9-17 * * *', jitter: '20m' },
    'jitter: must be shorter than the shortest interval, 15m',
  ],
  [
    { timezone: 'Mars/Base' },
    'timezone: is no IANA time zone: write for example Asia/Jakarta or UTC',
  ],
  [
    { startsAt: '2026-01-02T00:00:00Z', endsAt: '2026-01-01T00:00:00Z' },
    'endsAt: must be later than startsAt',
  ],
  [
    { startsAt: '2026-01-01' },
    'startsAt: must be an instant in ISO 8601 with its offset, for example 2026-01-01T00:00:00Z',
  ],
  [
    { endsAt: 5 },
    'endsAt: must be an instant in ISO 8601 with its offset, for example 2026-01-01T00:00:00Z',
  ],
])('%j: %s', (fields, problem) => {
  expect(problems(fields)).toEqual([problem])
})

test('a wrong expression is told in the words of its field, and nothing else is made of it', () => {
  const [problem, ...more] = problems({ cron: '60 * * * *', jitter: '1s' })
  expect(problem).toMatch(/^cron: minute "60": 60 is not within 0-59; allowed are /)
  expect(more).toEqual([])
})

test('the cadence of a spec is one object, its expression evenly spaced', () => {
  const spec = ScheduleSpec.parse({ ...BASE, cron: ' 0\t6  1 * * ', timezone: 'Asia/Jakarta' })
  expect(scheduleCadence(spec)).toEqual({
    kind: 'cron',
    expression: '0 6 1 * *',
    timezone: 'Asia/Jakarta',
    gap: 'shift',
    fold: 'once',
  })
  expect(scheduleCadence(spec)).toBe(scheduleCadence(spec))
})

function every(fields: object) {
  return scheduleCadence(ScheduleSpec.parse({ job: 'a', every: '90s', ...fields }))
}

test('the cadence of an interval has its offset, 0 when none is written', () => {
  expect(every({})).toEqual({ kind: 'every', everyMs: 90_000, offsetMs: 0 })
  expect(every({ offset: '10s' })).toEqual({ kind: 'every', everyMs: 90_000, offsetMs: 10_000 })
})

test('a payload that can not be kept is refused', () => {
  expect(problems({ payload: { text: 'a\u0000b' } })).toEqual([
    'payload: must not contain the character U+0000',
  ])
  expect(problems({ payload: { text: String.raw`a\u0000b` } })).toEqual([])
  expect(problems({ payload: { text: 'x'.repeat(70_000) } })).toEqual([
    expect.stringMatching(/^payload: has 700\d\d bytes as JSON, at most 65536 are allowed$/),
  ])
})
