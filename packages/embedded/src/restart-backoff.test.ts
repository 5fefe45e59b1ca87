import { expect, test } from 'vitest'
import { RestartBackoff } from './restart-backoff.ts'

test('restarts wait longer each time, up to 15 s', () => {
  const backoff = new RestartBackoff()
  const waits = Array.from({ length: 7 }, () => backoff.delayMs(100))
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
})

test('after 30 s of health the next restart is quick', () => {
  const backoff = new RestartBackoff()
  for (let i = 0; i < 5; i += 1) backoff.delayMs(100)
  expect(backoff.delayMs(30_000)).toBe(500)
})
