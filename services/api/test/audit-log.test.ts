import { keys } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { makeToken, bearer } from './setup-access.ts'
import { auditFacts, auditOf, recordAudit } from './setup-audit.ts'
import { EMAIL, setupSchedules } from './setup-schedules.ts'

test('the audit log tells who changed what, before and after, to operators and admins', async () => {
  await using api = await setupSchedules()
  const operator = await makeToken(api, { name: 'op', role: 'operator' })
  const viewer = await makeToken(api, { name: 'looker', role: 'viewer' })
  await api.send('PUT', '/schedules/nightly', EMAIL)
  await auditOf(api, 'schedules.put')
  await api.ask('/api/v1/schedules/nightly/pause', {
    method: 'POST',
    headers: bearer(operator.token),
  })
  await auditOf(api, 'schedules.pause')
  await recordAudit(api)

  const read = (query: string, token = operator.token) =>
    api.ask(`/api/v1/audit${query}`, { headers: bearer(token) })
  expect((await read('', viewer.token)).status).toBe(403)
  const { body } = await read('?actor=op')
  expect(body.items).toMatchObject([
    {
      actor: 'op',
      role: 'operator',
      cameBy: 'token',
      tokenId: operator.id,
      action: 'schedules.pause',
      subject: 'schedules/nightly',
      status: 200,
      before: { pause: null },
      after: { pause: { author: 'op' } },
    },
  ])
  const puts = (await read('?action=schedules.put&subject=schedules/nightly')).body.items
  expect(puts).toMatchObject([{ before: null, after: { job: EMAIL.job, cron: EMAIL.cron } }])
  const first = (await read('?limit=2')).body
  const second = (await read(`?limit=2&cursor=${first.nextCursor}`)).body
  expect([...first.items, ...second.items].map(({ action }) => action)).toEqual([
    'schedules.pause',
    'schedules.put',
    'tokens.create',
    'tokens.create',
  ])
  expect((await read('?from=yesterday')).body.errors).toMatchObject([{ field: 'from' }])
  expect((await read('?actor=')).status).toBe(400)
})

test('an act whose end was never told is shown so', async () => {
  await using api = await setupSchedules()
  await api.send('POST', '/schedules/nowhere/pause')
  await auditOf(api, 'schedules.pause')
  const [begun] = await auditFacts(api)
  const outbox = keys.outboxKey(api.prefix, keys.SCHEDULER)
  await api.redis.del(outbox)
  await api.redis.xadd(outbox, '*', 'facts', JSON.stringify(begun))
  await recordAudit(api)
  expect((await api.send('GET', '/audit')).body.items).toMatchObject([
    { action: 'schedules.pause', status: 'unknown', before: null, after: null },
  ])
})
