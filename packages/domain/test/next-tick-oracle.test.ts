import { type Cadence, cronProblem, nextTick } from '@jadwal/domain'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { knownChanges } from './clock-change.ts'
import { difference, minuteCases, secondCases, yearCases } from './oracle-case.ts'

const changes = knownChanges()

test('knows the clock changes that it is tested with', () => {
  const of = (name: string) =>
    changes
      .filter(({ timezone }) => timezone === name)
      .map(({ atMs }) => new Date(atMs).toISOString())
  expect(changes.length).toBeGreaterThan(95)
  expect(of('Australia/Lord_Howe')).toContain('2026-10-03T15:30:00.000Z')
  expect(of('Pacific/Apia')).toContain('2011-12-30T10:00:00.000Z')
  expect(of('Africa/Cairo')).toContain('2027-04-29T22:00:00.000Z')
})

test('agrees with a walk through every minute of the real clock around clock changes', () => {
  fc.assert(
    fc.property(minuteCases(changes), (some) => {
      expect(difference(some)).toBeUndefined()
    }),
    { numRuns: 5_000 },
  )
}, 60_000)

test('agrees with a walk through every second around clock changes', () => {
  fc.assert(
    fc.property(secondCases(changes), (some) => {
      expect(difference(some)).toBeUndefined()
    }),
    { numRuns: 1_500 },
  )
}, 60_000)

test('agrees with a walk through every minute of a year', () => {
  fc.assert(
    fc.property(yearCases('Australia/Lord_Howe', 2026), (some) => {
      expect(difference(some)).toBeUndefined()
    }),
    { numRuns: 40 },
  )
}, 60_000)

test('gives the same next tick from wherever it is asked', () => {
  const cases = fc.record({
    some: minuteCases(changes),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(cases, ({ some: { timezone, cron, rule, afterMs }, part }) => {
      const { expression } = cron
      fc.pre(cronProblem(expression) === undefined)
      const cadence: Cadence = { kind: 'cron', expression, timezone, ...rule }
      const tick = nextTick(cadence, afterMs)
      if (tick === undefined) return
      expect(tick).toBeGreaterThan(afterMs)
      expect(nextTick(cadence, tick - 1)).toBe(tick)
      expect(nextTick(cadence, Math.floor(afterMs + (tick - 1 - afterMs) * part))).toBe(tick)
    }),
    { numRuns: 2_000 },
  )
})
