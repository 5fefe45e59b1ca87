import { test } from 'vitest'
import { expectActsToHold } from '../support/acts-chaos.ts'

test('runs of ticks, by hand and of a backfill, while leaders and workers die: none overlap, none is lost', async () => {
  await expectActsToHold({ chaosMs: 14_000 })
})
