import { test } from 'vitest'
import { expectEditsToHold } from '../support/edit-storm.ts'

test('schedules edited every 100 ms while they fire: each version has its own ticks, once', async () => {
  await expectEditsToHold(20_000, { kills: 1 })
})
