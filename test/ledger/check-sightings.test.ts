import { expect, test } from 'vitest'
import { checkSightings, type Sighting } from './check-sightings.ts'

const schedule = { id: 'a', versions: [{ cadence: { everyMs: 1_000 }, fromMs: 500 }] }
const UNTIL_MS = 3_000
const seen = (...ticks: number[]): Sighting[] =>
  ticks.map((tickAtMs) => ({ scheduleId: 'a', tickAtMs, seenAtMs: tickAtMs + 5 }))

test('a complete period has nothing to report', () => {
  expect(checkSightings([schedule], seen(1_000, 2_000, 3_000, 4_000), UNTIL_MS)).toEqual({
    expected: 3,
    missing: [],
    doubled: [],
    early: [],
    unexpected: [],
    latestMs: 5,
  })
})

test('it finds what is missing, doubled, early and unexpected', () => {
  const report = checkSightings(
    [schedule],
    [...seen(1_000, 1_000, 2_500), { scheduleId: 'a', tickAtMs: 3_000, seenAtMs: 2_999 }],
    UNTIL_MS,
  )
  expect(report.missing).toEqual(['a@1970-01-01T00:00:02.000Z'])
  expect(report.doubled).toEqual(['a@1970-01-01T00:00:01.000Z ×2'])
  expect(report.early).toEqual(['a@1970-01-01T00:00:03.000Z'])
  expect(report.unexpected).toEqual(['a@1970-01-01T00:00:02.500Z'])
})
