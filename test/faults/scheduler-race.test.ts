import { expect, test } from 'vitest'
import { expectOrder } from '../support/expect-order.ts'
import { nextSecond, setupSchedulers } from '../support/schedulers.ts'

test('two schedulers race on 2,000 schedules for 30 ticks: each tick has exactly one run', async () => {
  const system = await setupSchedulers({ schedules: 2_000 })
  await Promise.all([system.start().ready, system.start().ready])
  const untilMs = Math.floor(Date.now() / 1_000) * 1_000 + 30_000
  while (Date.now() < untilMs) await nextSecond()
  const report = await expectOrder(system, { untilMs })
  expect(report.expected).toBeGreaterThanOrEqual(60_000)
}, 360_000)
