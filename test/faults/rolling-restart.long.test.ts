import { test } from 'vitest'
import { expectRestartsToHold } from '../support/rolling-restart.ts'

test('for two minutes, workers restarted in turn under 500 runs/s lose and double nothing', async () => {
  await expectRestartsToHold({ perSecond: 500, forMs: 120_000, rounds: 3 })
})
