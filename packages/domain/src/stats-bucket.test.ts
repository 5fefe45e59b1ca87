import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketMs, bucketOf, percentileMs } from './stats-bucket.ts'

const FIVE_YEARS_MS = 5 * 366 * 24 * 3_600_000

function count(times: readonly number[]): number[] {
  const buckets: number[] = []
  for (const ms of times) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1
  return buckets
}

test('the time that stands for a bucket is within 5 % of each time in it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: FIVE_YEARS_MS }), (ms) => {
      expect(Math.abs(bucketMs(bucketOf(ms)) - ms)).toBeLessThanOrEqual(0.05 * ms)
    }),
    { numRuns: 2_000 },
  )
})

test('a longer time is never in an earlier bucket', () => {
  fc.assert(
    fc.property(fc.nat(1e9), fc.nat(1e9), (a, b) => {
      expect(bucketOf(Math.max(a, b))).toBeGreaterThanOrEqual(bucketOf(Math.min(a, b)))
    }),
  )
})

test('percentiles are those of the times themselves, but for the width of a bucket', () => {
  const times = fc.array(fc.nat(1e7), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.95, 0.99), (each, share) => {
      const sorted = each.toSorted((a, b) => a - b)
      const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? 0
      const told = percentileMs(count(each), share) ?? -1
      expect(Math.abs(told - exact)).toBeLessThanOrEqual(0.05 * exact)
    }),
  )
})

test('of no times there is no percentile', () => {
  expect(percentileMs([], 0.5)).toBeUndefined()
})
