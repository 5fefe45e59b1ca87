import { type Cadence, cronProblem, DAY, nextTick } from '@jadwal/domain'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { oracleTicks, type RealClock, readRealClock } from './real-clock.ts'
import { writtenCron } from './written-cron.ts'

/** Days on which clocks change, and a few on which they do not. */
const CHANGES: [timezone: string, day: string][] = [
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['America/New_York', '2027-03-14'],
  ['Europe/Berlin', '2026-10-25'],
  ['Europe/Berlin', '2027-03-28'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Pacific/Apia', '2011-12-30'],
  ['Africa/Casablanca', '2026-02-15'],
  ['Africa/Casablanca', '2026-03-22'],
  ['Africa/Cairo', '2027-04-30'],
  ['Africa/Cairo', '2026-10-30'],
  ['America/Havana', '2026-03-08'],
  ['America/Santiago', '2026-09-06'],
  ['America/Santiago', '2026-04-05'],
  ['Antarctica/Troll', '2026-03-29'],
  ['Pacific/Chatham', '2026-04-05'],
  ['Asia/Kathmandu', '2026-02-28'],
  ['UTC', '2027-12-31'],
]

test('agrees with a walk through every minute of the real clock around clock changes', () => {
  const clocks = new Map<string, RealClock>()
  const cases = fc.record({
    change: fc.constantFrom(...CHANGES),
    cron: writtenCron.filter(({ expression }) => cronProblem(expression) === undefined),
    gap: fc.constantFrom('shift' as const, 'skip' as const),
    fold: fc.constantFrom('once' as const, 'twice' as const),
  })
  fc.assert(
    fc.property(cases, ({ change: [timezone, day], cron, gap, fold }) => {
      const from = Date.parse(day) - 2 * DAY
      const until = Date.parse(day) + 3 * DAY
      const key = `${timezone} ${day}`
      const clock = clocks.get(key) ?? readRealClock(timezone, from - DAY, until)
      clocks.set(key, clock)
      const expected = oracleTicks(clock, { ...cron, gap, fold }).filter((tick) => tick > from)
      const { expression } = cron
      const cadence: Cadence = { kind: 'cron', expression, timezone, gap, fold }
      expect(ticksBetween(cadence, from, until).map(iso)).toEqual(expected.map(iso))
    }),
    { numRuns: 300 },
  )
}, 60_000)

test('gives the same next tick from wherever it is asked', () => {
  const cases = fc.record({
    change: fc.constantFrom(...CHANGES),
    cron: writtenCron.filter(({ expression }) => cronProblem(expression) === undefined),
    minutes: fc.integer({ min: -3_000, max: 3_000 }),
  })
  fc.assert(
    fc.property(cases, ({ change: [timezone, day], cron: { expression }, minutes }) => {
      const cadence: Cadence = { kind: 'cron', expression, timezone, gap: 'shift', fold: 'once' }
      const after = Date.parse(day) + minutes * 60_000
      const tick = nextTick(cadence, after)
      if (tick === undefined) return
      expect(tick).toBeGreaterThan(after)
      expect(nextTick(cadence, tick - 1)).toBe(tick)
      expect(nextTick(cadence, Math.floor((after + tick) / 2))).toBe(tick)
    }),
    { numRuns: 500 },
  )
})

function ticksBetween(cadence: Cadence, fromMs: number, untilMs: number): number[] {
  const ticks: number[] = []
  let tick = nextTick(cadence, fromMs)
  while (tick !== undefined && tick < untilMs) {
    ticks.push(tick)
    tick = nextTick(cadence, tick)
  }
  return ticks
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString()
}
