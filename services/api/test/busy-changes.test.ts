import { openDatabase } from '@jadwal/db'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { EMAIL, setupSchedules } from './setup-schedules.ts'

test('while a change goes on, others wait, those beyond a line are told to try later, and reads are answered', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/a', EMAIL)
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 1 })
  const refused: { status: number; type: unknown; retryAfter: string | null }[] = []
  let settled: Promise<number[]> = Promise.resolve([])
  try {
    await db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(hashtext('jadwal schedules'))`.execute(tx)
      const changes = Array.from({ length: 25 }, async (_, at) => {
        const answer = await api.send('POST', '/schedules/a/pause', { reason: `reason ${at}` })
        if (answer.status === 503)
          refused.push({
            status: answer.status,
            type: answer.body.type,
            retryAfter: answer.headers.get('retry-after'),
          })
        return answer.status
      })
      settled = Promise.all(changes)
      await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(3)
      expect((await api.send('GET', '/schedules/a')).status).toBe(200)
    })
  } finally {
    await db.destroy()
  }
  const statuses = await settled
  expect(statuses.filter((status) => status === 200)).toHaveLength(22)
  expect(refused).toEqual(
    Array.from({ length: 3 }, () => ({
      status: 503,
      type: 'urn:jadwal:problem:try-later',
      retryAfter: '5',
    })),
  )
})
