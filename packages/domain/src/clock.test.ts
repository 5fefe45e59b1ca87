import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('the system clock tells the time, and its monotonic reading never goes back', () => {
  const before = systemClock.monotonicMs()
  expect(Math.abs(systemClock.now().getTime() - Date.now())).toBeLessThan(1_000)
  expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(before)
})
