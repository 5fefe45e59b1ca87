import { test } from 'vitest'
import { expectLockToBeLost } from '../support/blocked-loop.ts'

test('a handler that blocks its event loop longer than the lock loses it, and its late result is discarded', async () => {
  await expectLockToBeLost({ lockMs: 2_000, blockMs: 5_000 })
})
