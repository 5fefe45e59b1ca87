import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { checkTicks } from '../ledger/check-ticks.ts'
import { nextSecond, setupSchedulers } from '../support/schedulers.ts'

test('two schedulers race on 2,000 schedules for 30 ticks: each tick has exactly one run', async () => {
  const { start, consumer, expected } = await setupSchedulers({ schedules: 2_000 })
  await Promise.all([start().ready, start().ready])
  const until = Math.floor(Date.now() / 1_000) * 1_000 + 30_000
  while (Date.now() < until) await nextSecond()
  const report = await eventually(
    () => {
      const checked = checkTicks(expected(until), consumer.sightings)
      expect(checked.missing).toEqual([])
      return checked
    },
    { timeoutMs: 30_000, everyMs: 1_000 },
  )
  expect(report).toMatchObject({ doubled: [], early: [], unexpected: [] })
  expect(report.expected).toBeGreaterThanOrEqual(60_000)
})
