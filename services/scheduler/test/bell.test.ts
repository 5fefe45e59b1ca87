import { expect, test } from 'vitest'
import { Bell } from '../src/bell.ts'

const never = new AbortController().signal

test('a ring wakes whoever waits, and one that nobody waited for wakes the next', async () => {
  const bell = new Bell()
  const waiting = bell.wait(60_000, never)
  bell.ring()
  await waiting
  bell.ring()
  await bell.wait(60_000, never)
  const startedAt = performance.now()
  await bell.wait(20, never)
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(15)
})

test('an abort wakes, and after it nobody waits', async () => {
  const stop = new AbortController()
  const bell = new Bell()
  const waiting = bell.wait(60_000, stop.signal)
  stop.abort()
  await waiting
  await bell.wait(60_000, stop.signal)
  expect(stop.signal.aborted).toBe(true)
})
