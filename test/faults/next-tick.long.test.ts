import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  allChanges,
  type ClockChange,
  knownChanges,
} from '../../packages/domain/test/clock-change.ts'
import {
  difference,
  minuteCases,
  type OracleCase,
  secondCases,
  yearCases,
} from '../../packages/domain/test/oracle-case.ts'

/** The long form of the tests in packages/domain/test: the same oracle, more of everything. */
function expectAgreement(cases: fc.Arbitrary<OracleCase>, numRuns: number): void {
  fc.assert(
    fc.property(cases, (some) => {
      expect(difference(some)).toBeUndefined()
    }),
    { numRuns },
  )
}

test('agrees with the real clock around known clock changes', () => {
  expectAgreement(minuteCases(knownChanges()), 20_000)
  expectAgreement(secondCases(knownChanges()), 5_000)
})

test('agrees with the real clock around every clock change of every zone since 1973', () => {
  // Until 1972 Liberia's clock was off by a part of a minute, which a walk by minutes can't see.
  const changes: ClockChange[] = allChanges(1973, 2038)
  expect(changes.length).toBeGreaterThan(20_000)
  expectAgreement(minuteCases(changes), 2_000)
})

test.each(['America/New_York', 'Africa/Cairo', 'Antarctica/Troll', 'Europe/Berlin'])(
  'agrees with every minute of the clock of %s in two years',
  (timezone) => {
    expectAgreement(yearCases(timezone, 2026), 60)
    expectAgreement(yearCases(timezone, 2027), 60)
  },
)
