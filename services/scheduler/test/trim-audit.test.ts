import { DAY, newOrderedId, systemClock } from '@jadwal/domain'
import { listAudit, recordFacts } from '@jadwal/db'
import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, test } from 'vitest'
import { trimAudit } from '../src/trim-audit.ts'

test('old entries of the audit log go, but not by a clock that runs ahead', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  const nowMs = systemClock.now().getTime()
  const entry = (days: number): string => {
    const at = nowMs - days * DAY
    const audit = {
      at: new Date(at),
      actor: 'ana',
      role: 'admin',
      came_by: 'token',
      action: 'pause',
    }
    return JSON.stringify({ kind: 'audit', id: newOrderedId(at, Buffer.alloc(10, days)), audit })
  }
  await recordFacts(db, [entry(1), entry(5), entry(20)])
  const ages = async () =>
    (await listAudit(db, {}, {})).items.map(({ at }) => Math.round((nowMs - at.getTime()) / DAY))
  await trimAudit({ db, redisClock: { nowMs: () => nowMs + 1_000 * DAY }, auditDays: 10 })
  expect(await ages()).toEqual([1, 5])
  await trimAudit({ db, redisClock: { nowMs: () => nowMs - 30 * DAY }, auditDays: 2 })
  expect(await ages()).toEqual([1, 5])
})
