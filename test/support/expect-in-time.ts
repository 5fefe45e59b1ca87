import { expect } from 'vitest'

/** What a busy machine may add to a promised time, once in a while. */
const BUSY_MS = 5_000

/** Expects that four of five times what was promised within `promisedMs` took no longer, and never much longer. */
export function expectInTime(timesMs: readonly number[], promisedMs: number): void {
  const sorted = timesMs.toSorted((a, b) => a - b)
  const taken = `ms each took: ${sorted.map((ms) => Math.round(ms)).join(', ')}`
  expect(sorted[Math.ceil(sorted.length * 0.8) - 1], taken).toBeLessThan(promisedMs)
  expect(sorted.at(-1), taken).toBeLessThan(promisedMs + BUSY_MS)
}
