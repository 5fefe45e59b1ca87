import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { REDACTED } from '@jadwal/domain'
import { openRedis, producerConnection, publishCatalogue } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { eventually, startTestRedis } from '@jadwal/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Act, AuditTrail } from '../src/audit-trail.ts'
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

const ACT: Act = { caller: { name: 'ana', role: 'admin', by: 'token' }, action: 'schedules.pause' }

async function setupTrail(url: string) {
  const redis = openRedis(producerConnection(url), () => undefined)
  onTestFinished(() => redis.disconnect())
  if (redis.status !== 'ready') await once(redis, 'ready')
  const log = createLogger('api', 'silent')
  const lost = vi.spyOn(log, 'error')
  // Time stands still, so that the jobs need not be read again.
  const clock = { now: () => new Date('2026-12-01T00:00:00Z'), monotonicMs: () => 0 }
  const prefix = `trail-${randomUUID()}`
  return { redis, prefix, trail: new AuditTrail({ redis, prefix, clock, log }), lost }
}

test('an act that is refused as Redis stands still ends with 503 when Redis goes on and writes its entry', async () => {
  await using redis = await startTestRedis({ appendonly: 'no' })
  const t = await setupTrail(redis.url)
  const first = await t.trail.begin(ACT)
  first.end(200)
  await eventually(async () => expect(await auditFacts(t)).toHaveLength(2))
  redis.pause()
  // Each is given up after a second.
  for (const _ of [1, 2, 3])
    await expect(t.trail.begin(ACT)).rejects.toMatchObject({ kind: 'redis-unavailable' })
  redis.resume()
  await eventually(async () => {
    const facts = await auditFacts(t)
    const begun = facts.filter(({ audit }) => audit.status === undefined).map(({ id }) => id)
    const ended = facts.filter(({ audit }) => audit.status !== undefined)
    expect(begun).toHaveLength(4)
    expect(new Set(ended.map(({ id }) => id))).toEqual(new Set(begun))
    const refused = ended.filter(({ id }) => id !== begun[0])
    expect(new Set(refused.map(({ audit }) => audit.status))).toEqual(new Set([503]))
  })
  await t.trail.close()
  expect(t.lost).not.toHaveBeenCalled()
})

test('ends wait for Redis in a bounded number, and not when the api stops', async () => {
  await using redis = await startTestRedis({ appendonly: 'no' })
  const { trail, lost } = await setupTrail(redis.url)
  await trail.begin(ACT)
  await redis.stop()
  for (let count = 0; count < 1_003; count += 1) trail.note(ACT, 403)
  await eventually(() => expect(lost).toHaveBeenCalledTimes(3))
  await trail.close()
  expect(lost).toHaveBeenCalledTimes(1_003)
})
