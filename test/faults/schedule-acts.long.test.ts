import { startTestRedis } from '@jadwal/testkit'
import { onTestFinished, test } from 'vitest'
import { expectActsToHold } from '../support/acts-chaos.ts'

const CHAOS_MS = Number(process.env['JADWAL_CHAOS_MS'] ?? 180_000)

test('minutes of runs of ticks, by hand and of a backfill, while leaders and workers die and Redis goes away', async () => {
  const redis = await startTestRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  await expectActsToHold({ chaosMs: CHAOS_MS, redis })
})
