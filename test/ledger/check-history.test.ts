import { expect, test } from 'vitest'
import { checkHistory } from './check-history.ts'
import type { ExpectedSchedule } from './expected-schedule.ts'
import type { HistoryRow } from './history.ts'

const SECOND = 1_000
const everySecond: ExpectedSchedule = {
  id: 'a',
  versions: [{ cadence: { everyMs: SECOND }, fromMs: 500 }],
}
const bounds = { untilMs: 4 * SECOND }
const fine = {
  expected: 4,
  missing: [],
  doubled: [],
  unexpected: [],
  early: [],
  late: [],
  miscounted: [],
  wronglyPaused: [],
}

/** The row of a run that was fired 5 ms after its tick. */
function row(tickAtMs: number, more: Partial<HistoryRow> = {}): HistoryRow {
  return {
    id: `run-${tickAtMs}`,
    schedule_id: 'a',
    tick_at: new Date(tickAtMs),
    tick_until: null,
    tick_count: null,
    backfill_id: null,
    state: 'succeeded',
    reason: null,
    term: 1,
    enqueued_at: new Date(tickAtMs + 5),
    started_at: new Date(tickAtMs + 10),
    finished_at: new Date(tickAtMs + 20),
    ...more,
  }
}
function range(fromMs: number, untilMs: number, more: Partial<HistoryRow> = {}): HistoryRow {
  return row(fromMs, {
    tick_until: new Date(untilMs),
    tick_count: (untilMs - fromMs) / SECOND + 1,
    state: 'skipped',
    reason: 'misfire',
    enqueued_at: new Date(untilMs + 5),
    started_at: null,
    ...more,
  })
}
const rows = (...ticks: number[]): HistoryRow[] => ticks.map((tick) => row(tick * SECOND))
const check = (given: readonly HistoryRow[], schedule = everySecond, more = {}) =>
  checkHistory([schedule], given, { ...bounds, ...more })

test('a complete history has nothing to report, whether its rows are of ticks or of ranges', () => {
  expect(check(rows(1, 2, 3, 4, 5))).toEqual(fine)
  expect(check([...rows(1, 4), range(2_000, 3_000)])).toEqual(fine)
  // A range may go on beyond the period.
  expect(check([...rows(1), range(2_000, 7_000)])).toEqual(fine)
})

test('it finds what is missing and what is doubled', () => {
  expect(check(rows(1, 2, 4))).toEqual({ ...fine, missing: ['a@1970-01-01T00:00:03.000Z'] })
  expect(check(rows(1, 2, 2, 3, 4))).toEqual({
    ...fine,
    doubled: ['a@1970-01-01T00:00:02.000Z ×2'],
  })
})

test('a tick with a row of its own inside a range is doubled', () => {
  expect(check([...rows(1, 3, 4), range(2_000, 3_000)])).toEqual({
    ...fine,
    doubled: ['a@1970-01-01T00:00:03.000Z ×2'],
  })
})

test('it finds rows of ticks that no schedule has', () => {
  expect(check([...rows(1, 2, 3, 4), row(2_500)])).toEqual({
    ...fine,
    unexpected: ['a@1970-01-01T00:00:02.500Z'],
  })
  expect(check([...rows(1, 2, 3, 4), row(0)]).unexpected).toEqual(['a@1970-01-01T00:00:00.000Z'])
  expect(check([...rows(1, 2, 3, 4), row(1_000, { schedule_id: 'b' })]).unexpected).toEqual([
    'b@1970-01-01T00:00:01.000Z',
  ])
  expect(check([...rows(1, 2), range(3_000, 4_500, { tick_count: 2 })]).unexpected).toEqual([
    'a@1970-01-01T00:00:04.500Z',
  ])
})

test('runs of backfills, redriven ones, runs made by hand and runs of nobody are no ticks', () => {
  const others = [
    row(2_000, { backfill_id: 'some' }),
    row(2_000, { redrive_of: 'some' }),
    row(0, { tick_at: null }),
    row(0, { tick_at: null, schedule_id: null }),
  ]
  expect(check([...rows(1, 2, 3, 4), ...others])).toEqual(fine)
})

test('it finds what was decided, or started, before its instant', () => {
  const decided = row(3_000, { enqueued_at: new Date(2_999) })
  const started = row(4_000, { started_at: new Date(3_990) })
  const skipped = range(1_000, 2_000, { enqueued_at: new Date(1_500) })
  expect(check([skipped, decided, started])).toEqual({
    ...fine,
    early: [
      'a@1970-01-01T00:00:01.000Z -500 ms',
      'a@1970-01-01T00:00:03.000Z -1 ms',
      'a@1970-01-01T00:00:04.000Z -10 ms',
    ],
  })
})

test('it finds what was decided too late, when it is told what that is', () => {
  const late = row(2_000, { enqueued_at: new Date(3_500) })
  expect(check([late, ...rows(1, 3, 4)])).toEqual(fine)
  expect(check([late, ...rows(1, 3, 4)], everySecond, { lateMs: 1_500 })).toEqual(fine)
  expect(check([late, ...rows(1, 3, 4)], everySecond, { lateMs: 1_499 })).toEqual({
    ...fine,
    late: ['a@1970-01-01T00:00:02.000Z 1500 ms'],
  })
  const later = { lateMs: 1_499, lateFromMs: 2_000 }
  expect(check([late, ...rows(1, 3, 4)], everySecond, later)).toEqual(fine)
})

test('it finds ranges that count wrong, or are of ticks that ran', () => {
  for (const wrong of [{ tick_count: 2 }, { tick_count: 4 }, { tick_count: null }])
    expect(check([...rows(1), range(2_000, 4_000, wrong)]).miscounted).toHaveLength(1)
  expect(check([...rows(1), range(2_000, 4_000, { state: 'succeeded' })]).miscounted).toEqual([
    'a@1970-01-01T00:00:02.000Z … 1970-01-01T00:00:04.000Z: succeeded, 3 of 3',
  ])
})

test('each version has the ticks of its own time', () => {
  const edited: ExpectedSchedule = {
    id: 'a',
    versions: [
      { cadence: { everyMs: SECOND }, fromMs: 500, untilMs: 2_000 },
      { cadence: { everyMs: SECOND, offsetMs: 500 }, fromMs: 2_000, untilMs: 3_700 },
      { cadence: { cron: '*/4 * * * * *', timezone: 'Asia/Kathmandu' }, fromMs: 3_900 },
    ],
  }
  const right = [row(1_000), row(2_000), row(2_500), row(3_500), row(4_000)]
  expect(check(right, edited)).toEqual({ ...fine, expected: 5 })
  expect(check([...right, row(3_000)], edited).unexpected).toHaveLength(1)
  expect(check(right.slice(0, -1), edited).missing).toEqual(['a@1970-01-01T00:00:04.000Z'])
})

test('just after a change either version may have decided, and no longer', () => {
  const edited: ExpectedSchedule = {
    id: 'a',
    versions: [
      { cadence: { everyMs: SECOND }, fromMs: 500, untilMs: 1_900 },
      { cadence: { everyMs: 3 * SECOND }, fromMs: 1_900 },
    ],
  }
  const reach = { reachMs: SECOND }
  const report = { ...fine, expected: 2 }
  expect(check(rows(1, 2, 3), edited, reach)).toEqual(report)
  expect(check(rows(1, 3), edited, reach)).toEqual(report)
  expect(check(rows(1, 2, 2, 3), edited, reach).doubled).toHaveLength(1)
  expect(check(rows(1, 2, 3, 4), edited, reach).unexpected).toHaveLength(1)
  expect(check(rows(1, 2, 3), edited).unexpected).toHaveLength(1)
})

test('what is paused is skipped for that reason, and nothing else is', () => {
  const paused: ExpectedSchedule = { ...everySecond, pauses: [{ fromMs: 1_500, untilMs: 3_000 }] }
  const skipped = range(2_000, 3_000, { reason: 'paused' })
  expect(check([...rows(1, 4), skipped], paused)).toEqual(fine)
  expect(check(rows(1, 2, 3, 4), paused).wronglyPaused).toHaveLength(2)
  expect(check([...rows(1), range(2_000, 4_000, { reason: 'paused' })], paused)).toEqual({
    ...fine,
    wronglyPaused: ['a@1970-01-01T00:00:04.000Z skipped paused'],
  })
  expect(check([...rows(1, 4), range(2_000, 3_000)], paused).wronglyPaused).toHaveLength(2)
  // Within reach of the change either is right.
  expect(check(rows(1, 2, 3, 4), paused, { reachMs: SECOND }).wronglyPaused).toEqual([
    'a@1970-01-01T00:00:03.000Z succeeded null',
  ])
  const resting: ExpectedSchedule = {
    id: 'a',
    versions: [{ cadence: { everyMs: SECOND }, fromMs: 500, paused: true }],
  }
  expect(check([range(1_000, 4_000, { reason: 'paused' })], resting)).toEqual(fine)
  expect(check(rows(1, 2, 3, 4), resting).wronglyPaused).toHaveLength(4)
})

test('thousands of findings are cut short', () => {
  const { missing } = checkHistory([everySecond], [], { untilMs: 1_000 * SECOND })
  expect(missing).toHaveLength(11)
  expect(missing.at(-1)).toBe('… 1000 in all')
})
