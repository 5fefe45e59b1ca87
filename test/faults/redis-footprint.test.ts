import { expect, test } from 'vitest'
import { footprintOf } from '../support/redis-footprint.ts'

/** What the upkeep of Redis and of the services may differ by. */
const MORE = { bytes: 1024 * 1024, keys: 4 }

test('20,000 finished runs leave the memory of Redis where it was', async () => {
  const { before, after } = await footprintOf(20_000)
  expect(after.usedBytes - before.usedBytes).toBeLessThan(MORE.bytes)
  expect(after.keys - before.keys).toBeLessThanOrEqual(MORE.keys)
})
