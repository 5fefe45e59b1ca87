import { test } from 'vitest'
import { expectLockToBeLost } from '../support/blocked-loop.ts'

test('a handler that blocks its event loop for 40 s loses a lock of 30 s, and its late result is discarded', async () => {
  await expectLockToBeLost({ lockMs: 30_000, blockMs: 40_000 })
})
