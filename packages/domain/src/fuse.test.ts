import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_FUSE, Fuse, fuseSign, fuseSteps, openTimesMs } from './fuse.ts'

const fuses = fc.record({
  failureRate: fc.double({ min: 0, max: 1, minExcluded: true, noNaN: true }),
  minAttempts: fc.integer({ min: 1, max: 100_000 }),
  windowMs: fc.integer({ min: 1_000, max: 86_400_000 }),
  openMs: fc.integer({ min: 100, max: 86_400_000 }),
})

test('a fuse stays open twice as long each time in a row, and ten times as long at most', () => {
  expect(openTimesMs({ ...DEFAULT_FUSE, openMs: 100 })).toEqual([100, 200, 400, 800, 1_000])
})

test('every time that a fuse is open is longer than the one before, and within its bounds', () => {
  fc.assert(
    fc.property(fuses, (fuse) => {
      const times = openTimesMs(fuse)
      expect(times.toSorted((a, b) => a - b)).toEqual(times)
      expect(new Set(times).size).toBe(times.length)
      expect([times[0], times.at(-1)]).toEqual([fuse.openMs, fuse.openMs * 10])
    }),
  )
})

test('one run is let through first, then growing numbers, and the first to fail opens the fuse again', () => {
  expect(fuseSteps(DEFAULT_FUSE)).toEqual([
    { quota: 1, limit: 1 },
    { quota: 10, limit: 5 },
    { quota: 100, limit: 50 },
  ])
})

test('a step opens the fuse at the least number of failures that is its failure rate or more', () => {
  fc.assert(
    fc.property(fuses, (fuse) => {
      for (const { quota, limit } of fuseSteps(fuse)) {
        expect(limit).toBeLessThanOrEqual(quota)
        expect(limit / quota).toBeGreaterThanOrEqual(fuse.failureRate)
        expect(limit === 1 || (limit - 1) / quota < fuse.failureRate).toBe(true)
      }
    }),
  )
  expect(fuseSteps({ ...DEFAULT_FUSE, failureRate: 0.07 }).at(-1)?.limit).toBe(7)
})

test('attempts that failed count against a job, whether another follows or not', () => {
  expect(fuseSign({ kind: 'succeeded' })).toBe('good')
  expect(fuseSign({ kind: 'retry' })).toBe('bad')
  expect(fuseSign({ kind: 'dead', reason: 'failed' })).toBe('bad')
})

test('what was cut short, or is the fault of one run alone, says nothing about its job', () => {
  for (const reason of [
    'permanent',
    'invalid-payload',
    'unknown-job',
    'lost',
    'exhausted',
  ] as const)
    expect(fuseSign({ kind: 'dead', reason })).toBeUndefined()
  for (const kind of ['cancelled', 'drained', 'left-alone', 'in-lot', 'lost'])
    expect(fuseSign({ kind })).toBeUndefined()
})

test('a fuse that could never open, or not for a moment, is refused', () => {
  expect(Fuse.safeParse(DEFAULT_FUSE).success).toBe(true)
  for (const wrong of [{ failureRate: 0 }, { failureRate: 1.1 }, { minAttempts: 0 }, { openMs: 1 }])
    expect(Fuse.safeParse({ ...DEFAULT_FUSE, ...wrong }).success).toBe(false)
})
