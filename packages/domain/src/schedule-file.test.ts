import { expect, test } from 'vitest'
import { readScheduleFile } from './schedule-file.ts'

const FINE = { job: 'report.generate', cron: '0 6 1 * *' }

function problems(document: unknown): string[] {
  const result = readScheduleFile(document)
  return result.ok ? [] : result.problems.map(String)
}

function problemsOf(fields: Record<string, unknown>): string[] {
  return problems({ version: 1, schedules: { nightly: { ...FINE, ...fields } } })
}

test('reads a file, its defaults filled in where a schedule leaves a field out', () => {
  const result = readScheduleFile({
    version: 1,
    prune: true,
    defaults: { timezone: 'Asia/Jakarta', overlap: 'allow' },
    schedules: { monthly: FINE, hourly: { ...FINE, cron: '@hourly', timezone: 'UTC' } },
  })
  if (!result.ok) throw new Error(result.problems.join('\n'))
  expect(result.file.prune).toBe(true)
  expect(result.file.schedules).toMatchObject([
    {
      name: 'monthly',
      input: { ...FINE, timezone: 'Asia/Jakarta', overlap: 'allow' },
      spec: { timezone: 'Asia/Jakarta', overlap: 'allow', paused: false },
    },
    { name: 'hourly', spec: { timezone: 'UTC', overlap: 'allow' } },
  ])
})

test('a cadence of the defaults gives way whole', () => {
  const result = readScheduleFile({
    version: 1,
    defaults: { every: '1m', offset: '10s' },
    schedules: { a: { job: 'a' }, b: FINE },
  })
  if (!result.ok) throw new Error(result.problems.join('\n'))
  expect(result.file.schedules.map(({ input }) => input)).toEqual([
    { job: 'a', every: '1m', offset: '10s' },
    FINE,
  ])
})

test('a file without schedules is a file', () => {
  expect(readScheduleFile({ version: 1, schedules: {} })).toEqual({
    ok: true,
    file: { prune: false, schedules: [], calendars: [] },
  })
})

test.each([
  [null, ['the file (null): must be a map of keys to values']],
  ['hello', ['the file ("hello"): must be a map of keys to values']],
  [
    {},
    ['version: is missing; must be 1', 'schedules: is missing; must be a map of keys to values'],
  ],
  [{ version: 2, schedules: {} }, ['version (2): must be 1']],
  [{ version: 1, schedules: null }, ['schedules (null): must be a map of keys to values']],
  [{ version: 1, schedules: {}, defalts: {} }, ['defalts: unknown key; did you mean "defaults"?']],
  [
    { version: 1, schedules: {}, queues: {} },
    ['queues: unknown key; allowed are version, prune, defaults, calendars, schedules'],
  ],
  [{ version: 1, schedules: { a: 5 } }, ['schedules.a (5): must be a map of keys to values']],
  [
    { version: 1, schedules: { 'Night Job': FINE } },
    [
      'schedules.Night Job: this name must match [a-z0-9][a-z0-9._-]{0,99}: lower-case letters, digits, ".", "_" and "-", at most 100 characters, a letter or digit first',
    ],
  ],
  [
    { version: 1, schedules: { plan: FINE } },
    ['schedules.plan: this name is reserved: plan, apply and load are addresses of the api'],
  ],
  [
    { version: 1, defaults: { timezon: 'UTC' }, schedules: { a: FINE, b: FINE } },
    ['defaults.timezon: unknown key; did you mean "timezone"?'],
  ],
])('%j: place, value and what would be right', (document, expected) => {
  expect(problems(document)).toEqual(expected)
})

test.each([
  [{ overlapp: 'skip' }, 'overlapp: unknown key; did you mean "overlap"?'],
  [{ misfire: { polcy: 'all' } }, 'misfire.polcy: unknown key; did you mean "policy"?'],
  [{ dst: { summer: 1 } }, 'dst.summer: unknown key; allowed are gap, fold'],
  [
    { overlap: 'queue' },
    'overlap ("queue"): must be one of skip, allow, queue-latest, cancel-running',
  ],
  [{ job: undefined }, 'job: is missing; must be a text in quotes'],
  [{ paused: 'yes' }, 'paused ("yes"): must be true or false'],
  [{ payload: [1] }, 'payload: must be a map of keys to values'],
  [{ attempts: 0 }, 'attempts (0): must be at least 1'],
  [{ attempts: 1.5 }, 'attempts (1.5): must be a whole number'],
  [{ priority: 1_001 }, 'priority (1001): must be at most 1000'],
  [
    { alert: 'x'.repeat(201) },
    `alert ("${'x'.repeat(120)}…"): must be at most 200 characters long`,
  ],
  [{ labels: { team: 5 } }, 'labels.team (5): must be a text in quotes'],
  [
    { lateAfter: 90 },
    'lateAfter (90): is no duration: write a whole number and ms, s, m, h or d, for example 90s',
  ],
  [
    { timezone: 'Mars' },
    'timezone ("Mars"): is no IANA time zone: write for example Asia/Jakarta or UTC',
  ],
  [{ cron: '0 0 30 2 *' }, 'cron ("0 0 30 2 *"): never fires: there is no day "30" in month "2"'],
  [{ every: '5m' }, 'cron ("0 6 1 * *"): write exactly one of cron and every'],
])('a schedule with %j', (fields, expected) => {
  expect(problemsOf(fields)).toEqual([`schedules.nightly.${expected}`])
})

test('reads calendars; a problem of one names its place', () => {
  const holidays = { dates: ['12-25'], spans: [{ from: '2026-12-24', to: '2026-12-26' }] }
  const result = readScheduleFile({ version: 1, calendars: { holidays }, schedules: {} })
  if (!result.ok) throw new Error(result.problems.join('\n'))
  expect(result.file.calendars).toEqual([{ name: 'holidays', input: holidays, spec: holidays }])
  const wrong = { dates: ['31-12'], spans: [{ form: '2026-12-24', to: 'x' }], zone: 'UTC' }
  expect(problems({ version: 1, calendars: { Bank: {} }, schedules: {} })[0]).toContain(
    'calendars.Bank: this name must match',
  )
  expect(problems({ version: 1, calendars: { wrong }, schedules: {} })).toEqual([
    'calendars.wrong.dates.0 ("31-12"): must be a date such as 2026-12-25, or 12-25 for every year',
    'calendars.wrong.spans.0.from: is missing; must be a date or a time of the local clock, such as 2026-12-24 or 2026-12-24T18:00',
    'calendars.wrong.spans.0.to ("x"): must be a date or a time of the local clock, such as 2026-12-24 or 2026-12-24T18:00',
    'calendars.wrong.spans.0.form: unknown key; did you mean "from"?',
    'calendars.wrong.zone: unknown key; allowed are description, timezone, dates, spans',
  ])
  expect(problemsOf({ calendars: { skp: ['a'] } })).toEqual([
    'schedules.nightly.calendars.skp: unknown key; did you mean "skip"?',
  ])
})

test('tells every problem of every schedule at once', () => {
  const found = problems({
    version: 1,
    schedules: { a: { ...FINE, cron: '* *' }, b: { ...FINE, attempts: 0, timezone: 'X' }, c: FINE },
  })
  expect(found.map((problem) => problem.split(' ')[0])).toEqual([
    'schedules.a.cron',
    'schedules.b.timezone',
    'schedules.b.attempts',
  ])
})

test('what would be dropped in silence, or can not be kept, is a problem', () => {
  const every = { job: 'a', every: '1m' }
  expect(
    problems(
      JSON.parse('{ "version": 1, "schedules": { "__proto__": { "job": "a", "every": "1m" } } }'),
    ),
  ).toEqual(['schedules.__proto__: is not a name that one can have'])
  expect(
    problems({ version: 1, schedules: { a: { ...every, payload: { name: '\ud800' } } } })[0],
  ).toContain('surrogate')
  const deep = JSON.parse(`${'{"a":'.repeat(201)}1${'}'.repeat(201)}`)
  expect(problems({ version: 1, schedules: { a: { ...every, payload: deep } } })[0]).toContain(
    'must not be nested deeper than 200 levels',
  )
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  expect(problems({ version: 1, schedules: { a: { ...every, payload: cyclic } } })[0]).toContain(
    'contains itself',
  )
  expect(problems({ version: 1, schedules: { a: { ...every, payload: { face: '😀' } } } })).toEqual(
    [],
  )
})
