import { test } from 'vitest'
import { expectEditsToHold } from '../support/edit-storm.ts'

const CHAOS_MS = Number(process.env['JADWAL_CHAOS_MS'] ?? 180_000)

test('minutes of edits every 100 ms, with a kill of the leader every 15 s', async () => {
  await expectEditsToHold(CHAOS_MS, { kills: Math.floor(CHAOS_MS / 15_000) })
})
