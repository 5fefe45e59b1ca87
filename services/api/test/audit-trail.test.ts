import { REDACTED } from '@jadwal/domain'
import { publishCatalogue } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { auditFacts, auditOf } from './setup-audit.ts'
import { EMAIL, setupSchedules } from './setup-schedules.ts'

test('a change has its entry before it is done, and what came of it afterwards', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/nightly', EMAIL)
  await auditOf(api, 'schedules.put')
  await api.send('POST', '/schedules/nightly/pause', { reason: 'maintenance' })
  const paused = await auditOf(api, 'schedules.pause')
  expect(paused).toMatchObject({
    actor: 'admin',
    role: 'admin',
    came_by: 'bootstrap',
    action: 'schedules.pause',
    subject: 'schedules/nightly',
    request: { reason: 'maintenance' },
    status: 200,
  })
  const facts = await auditFacts(api)
  const [begun, ended] = facts.filter(({ audit }) => audit.action === 'schedules.pause')
  expect(begun?.id).toBe(ended?.id)
  expect(begun?.audit).not.toHaveProperty('status')
})

test('what is refused is in the log with its status, what only reads or enqueues is not', async () => {
  await using api = await setupSchedules()
  await api.send('POST', '/schedules/nowhere/pause', {})
  expect(await auditOf(api, 'schedules.pause')).toMatchObject({ status: 404 })
  await api.send('GET', '/schedules')
  await api.send('POST', '/cron/preview', { cron: '0 6 * * *' })
  await api.send('POST', '/schedules/plan', { version: 1, schedules: {} })
  await api.send('POST', '/runs', { job: EMAIL.job, payload: EMAIL.payload })
  await api.send('DELETE', '/schedules/nowhere')
  await auditOf(api, 'schedules.delete')
  const actions = new Set((await auditFacts(api)).map(({ audit }) => audit.action))
  expect([...actions].toSorted()).toEqual(['schedules.delete', 'schedules.pause'])
})

test('secrets, and what a job redacts or encrypts, are not in the log', async () => {
  await using api = await setupSchedules()
  await publishCatalogue(api.redis, api.prefix, [
    { ...EMAIL_JOB, redact: ['to'] },
    { ...EMAIL_JOB, name: 'email.sealed', encrypt: true },
  ])
  await api.send('PUT', '/schedules/nightly', { ...EMAIL, labels: { apiKey: 'abc' } })
  const put = await auditOf(api, 'schedules.put')
  expect(put.request).toMatchObject({
    job: EMAIL.job,
    payload: { to: REDACTED, template: 'bye' },
    labels: { apiKey: REDACTED },
  })
  await api.send('PUT', '/schedules/sealed', { ...EMAIL, job: 'email.sealed' })
  await api.send('POST', '/schedules/nightly/trigger', { payload: EMAIL.payload })
  await auditOf(api, 'schedules.trigger')
  expect(JSON.stringify(await auditFacts(api))).not.toContain('ana@example.com')
})

test('a change is refused when Redis can take no entry', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/nightly', EMAIL)
  await auditOf(api, 'schedules.put')
  const outbox = `{${api.prefix}:scheduler}:outbox`
  await api.redis.del(outbox)
  // Redis refuses to add an entry to what is no stream.
  await api.redis.set(outbox, 'no stream')
  const { status } = await api.send('POST', '/schedules/nightly/pause', {})
  expect(status).toBe(500)
  expect((await api.send('GET', '/schedules/nightly')).body).not.toHaveProperty('pause')
})
