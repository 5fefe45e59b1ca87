import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backoff, DEFAULT_BACKOFF, retryDelayMs } from './retry-policy.ts'

const STEADY: Backoff = { type: 'exponential', delayMs: 1_000, maxDelayMs: 60_000, jitter: 0 }

test('the wait doubles with each failure up to its cap', () => {
  const waits = [1, 2, 3, 6, 7, 1_000].map((failures) => retryDelayMs(STEADY, failures, 0.5))
  expect(waits).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000])
})

test('a count of failures below one waits like the first', () => {
  expect(retryDelayMs(STEADY, 0, 0)).toBe(1_000)
})

test('jitter takes away at most its part of the wait', () => {
  expect(retryDelayMs(DEFAULT_BACKOFF, 1, 0)).toBe(1_000)
  expect(retryDelayMs(DEFAULT_BACKOFF, 1, 0.999_999)).toBe(500)
})

test('every wait lies between the unjittered part and the cap', () => {
  const cases = fc.record({
    delayMs: fc.integer({ min: 0, max: 86_400_000 }),
    maxDelayMs: fc.integer({ min: 0, max: 86_400_000 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    failures: fc.integer({ min: 1, max: 2_000 }),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  })
  fc.assert(
    fc.property(cases, ({ failures, random, ...backoff }) => {
      const wait = retryDelayMs({ type: 'exponential', ...backoff }, failures, random)
      const full = retryDelayMs({ type: 'exponential', ...backoff, jitter: 0 }, failures, random)
      expect(Number.isSafeInteger(wait)).toBe(true)
      expect(wait).toBeLessThanOrEqual(Math.min(full, backoff.maxDelayMs))
      expect(wait).toBeGreaterThanOrEqual(Math.floor(full * (1 - backoff.jitter)))
    }),
  )
})

test('a backoff with a negative wait or more jitter than all of it is refused', () => {
  expect(Backoff.safeParse({ ...STEADY, delayMs: -1 }).success).toBe(false)
  expect(Backoff.safeParse({ ...STEADY, jitter: 1.1 }).success).toBe(false)
})
