import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HOUR, MINUTE } from './clock.ts'
import { decideTicks } from './decide-ticks.ts'
import { expectedTicks } from './expected-ticks.ts'
import { ScheduleSpec, type ScheduleSpecInput, type ScheduleVersion } from './schedule.ts'
import { tickLedger, type TickRow } from './tick-ledger.ts'

const NOON = Date.parse('2026-09-01T12:00:00Z')
const ALL_KEPT = -Infinity

function version(
  fields: Partial<ScheduleSpecInput>,
  fromMs: number,
  untilMs?: number,
): ScheduleVersion {
  const spec = ScheduleSpec.parse({ job: 'report.generate', ...fields })
  return { version: 1, spec, fromMs, ...(untilMs === undefined ? {} : { untilMs }) }
}

const everyMinute = [version({ cron: '* * * * *' }, 0)]

function ticks(versions: ScheduleVersion[], fromMs: number, untilMs: number) {
  return [...expectedTicks(versions, { afterMs: fromMs - 1, untilMs })]
}

/** Entries in short: `12:00 fired`. */
function ledger(rows: TickRow[], nowMs = NOON + 10 * MINUTE, historyFromMs = ALL_KEPT): string[] {
  const expected = ticks(everyMinute, NOON, NOON + 4 * MINUTE)
  return tickLedger(expected, rows, { nowMs, historyFromMs }).map(
    ({ tickAtMs, verdict, expected: tick }) =>
      `${new Date(tickAtMs).toISOString().slice(11, 16)} ${verdict}${tick ? '' : ' unexpected'}`,
  )
}

const fired = (minute: number): TickRow => ({ tickAtMs: NOON + minute * MINUTE, isSkipped: false })
const skipped = (first: number, last: number): TickRow => ({
  tickAtMs: NOON + first * MINUTE,
  untilMs: NOON + last * MINUTE,
  isSkipped: true,
})

test('every expected tick has an entry, with a row or without', () => {
  expect(ledger([fired(0), fired(2)], NOON + 3 * MINUTE)).toEqual([
    '12:00 fired',
    '12:01 pending',
    '12:02 fired',
    '12:03 pending',
    '12:04 upcoming',
  ])
})

test('a range is told tick by tick, also when it began before the period or ends after it', () => {
  expect(ledger([skipped(-5, 1), fired(2), skipped(3, 9)])).toEqual([
    '12:00 skipped',
    '12:01 skipped',
    '12:02 fired',
    '12:03 skipped',
    '12:04 skipped',
  ])
})

test('a tick with a row of its own inside a range is told by its own', () => {
  expect(ledger([skipped(0, 4), fired(2)])[2]).toBe('12:02 fired')
  expect(ledger([skipped(0, 4), fired(2)])[3]).toBe('12:03 skipped')
})

test('a row of a tick that nobody expected is shown', () => {
  const odd = (minute: number) => fired(minute + 0.5)
  expect(ledger([odd(-1), fired(0), odd(1), odd(9)])).toEqual([
    '11:59 fired unexpected',
    '12:00 fired',
    '12:01 pending',
    '12:01 fired unexpected',
    '12:02 pending',
    '12:03 pending',
    '12:04 pending',
    '12:09 fired unexpected',
  ])
})

test('where the history is no longer kept, a tick without a row has expired', () => {
  const told = ledger([fired(0)], NOON + HOUR, NOON + 2 * MINUTE)
  expect(told.slice(0, 3)).toEqual(['12:00 fired', '12:01 expired', '12:02 pending'])
})

test('each version has the ticks of its own time, and dates are kept to', () => {
  const edited = [
    version({ cron: '*/20 * * * *', endsAt: '2026-09-01T13:00:00Z' }, NOON - HOUR, NOON),
    version({ every: '15m', startsAt: '2026-09-01T12:30:00Z' }, NOON),
  ]
  const told = ticks(edited, NOON - HOUR, NOON + HOUR).map(({ tickAtMs }) =>
    new Date(tickAtMs).toISOString().slice(11, 16),
  )
  expect(told).toEqual(['11:20', '11:40', '12:00', '12:30', '12:45', '13:00'])
})

const SPECS: Partial<ScheduleSpecInput>[] = [
  { cron: '* * * * *' },
  { cron: '*/7 1-5 * * *', timezone: 'Europe/Berlin', dst: { gap: 'shift', fold: 'twice' } },
  { every: '11m', offset: '3m' },
  { cron: '30 2 * * *', timezone: 'Australia/Lord_Howe', paused: true },
  { cron: '*/3 * * * *', misfire: { policy: 'all', limit: 5 } },
  { cron: '*/2 * * * *', endsAt: '2026-10-25T01:07:00Z' },
]
/** Berlin sets its clock back an hour later. */
const AUTUMN = Date.parse('2026-10-25T00:00:00Z')

test('what the leader decides, in any portions and after any downtime, fills the ledger whole', () => {
  const edits = fc.array(fc.tuple(fc.nat({ max: 200 }), fc.nat({ max: SPECS.length - 1 })), {
    minLength: 1,
    maxLength: 4,
  })
  const looks = fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(edits, looks, (chosen, waits) => {
      const versions: ScheduleVersion[] = []
      let fromMs = AUTUMN
      for (const [minutes, which] of chosen) {
        const untilMs = fromMs + minutes * MINUTE
        versions.push(version(SPECS[which] ?? {}, fromMs, untilMs))
        fromMs = untilMs
      }
      const rows: TickRow[] = []
      let nowMs = AUTUMN
      let lastMs = -Infinity
      for (const minutes of waits) {
        nowMs += minutes * MINUTE
        for (const each of versions) {
          const decision = decideTicks(each, lastMs, { nowMs })
          lastMs = decision.lastMs
          for (const verdict of decision.verdicts)
            rows.push(
              verdict.verdict === 'fire'
                ? { tickAtMs: verdict.tickAtMs, isSkipped: false }
                : { ...verdict, isSkipped: true },
            )
        }
      }
      const expected = ticks(versions, AUTUMN, fromMs)
      const entries = tickLedger(expected, rows, { nowMs, historyFromMs: ALL_KEPT })
      expect(entries.map(({ tickAtMs }) => tickAtMs)).toEqual(
        expected.map(({ tickAtMs }) => tickAtMs),
      )
      for (const { tickAtMs, verdict } of entries)
        expect(verdict === 'upcoming').toBe(tickAtMs > nowMs)
      expect(entries.some(({ verdict }) => verdict === 'pending')).toBe(false)
    }),
    { numRuns: 200 },
  )
})
