import { test } from 'vitest'
import { expectRestartsToHold } from '../support/rolling-restart.ts'

test('workers restarted in turn under 500 runs/s lose nothing, double nothing and wait for no lock', async () => {
  await expectRestartsToHold({ perSecond: 500, forMs: 20_000, rounds: 1 })
}, 300_000)
