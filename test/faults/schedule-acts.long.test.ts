import { test } from 'vitest'
import { expectActsToHold } from '../support/acts-chaos.ts'

const CHAOS_MS = Number(process.env['JADWAL_CHAOS_MS'] ?? 180_000)

test('minutes of runs of ticks, by hand and of a backfill, while leaders and workers die', async () => {
  await expectActsToHold(CHAOS_MS)
})
