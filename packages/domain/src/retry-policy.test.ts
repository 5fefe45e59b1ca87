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

test('a fixed wait is always the same, but for its jitter', () => {
  const fixed: Backoff = { type: 'fixed', delayMs: 700, jitter: 0.5 }
  expect([1, 2, 50].map((failures) => retryDelayMs(fixed, failures, 0))).toEqual([700, 700, 700])
  expect(retryDelayMs(fixed, 3, 0.5)).toBe(525)
})

test('a list gives one wait after the other, and its last from then on', () => {
  const list: Backoff = { type: 'list', delaysMs: [10, 0, 5_000], jitter: 0 }
  const waits = [0, 1, 2, 3, 4, 1_000].map((failures) => retryDelayMs(list, failures, 0.9))
  expect(waits).toEqual([10, 10, 0, 5_000, 5_000, 5_000])
})

test('no wait is longer than its policy states, nor shorter than its jitter allows', () => {
  const wait = fc.integer({ min: 0, max: 2_592_000_000 })
  const jitter = fc.double({ min: 0, max: 1, noNaN: true })
  const stated = fc.oneof(
    fc.record({ type: fc.constant('fixed' as const), delayMs: wait, jitter }),
    fc.record({
      type: fc.constant('list' as const),
      delaysMs: fc.array(wait, { minLength: 1, maxLength: 20 }),
      jitter,
    }),
  )
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(stated, fc.integer({ min: 1, max: 50 }), random, (backoff, failures, drawn) => {
      expect(Backoff.safeParse(backoff).success).toBe(true)
      const waits = backoff.type === 'list' ? backoff.delaysMs : [backoff.delayMs]
      const full = waits[Math.min(failures, waits.length) - 1] ?? Number.NaN
      const drawnWait = retryDelayMs(backoff, failures, drawn)
      expect(Number.isSafeInteger(drawnWait)).toBe(true)
      expect(drawnWait).toBeLessThanOrEqual(full)
      expect(drawnWait).toBeGreaterThanOrEqual(Math.floor(full * (1 - backoff.jitter)))
    }),
  )
})

function refused(backoff: unknown): unknown {
  return Backoff.safeParse(backoff).error?.issues[0]?.path
}

test('a list without waits, and fields of another kind of backoff, are refused', () => {
  expect(refused({ type: 'list', delaysMs: [], jitter: 0 })).toEqual(['delaysMs'])
  expect(refused({ type: 'list', delaysMs: [1, -1], jitter: 0 })).toEqual(['delaysMs', 1])
  expect(refused({ type: 'fixed', delayMs: 1, delaysMs: [1], jitter: 0 })).toEqual([])
  expect(refused({ type: 'linear', delayMs: 1, jitter: 0 })).toEqual(['type'])
})
