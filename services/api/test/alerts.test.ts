import { HOUR, systemClock } from '@jadwal/domain'
import { keys, publishCatalogue } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { AlertsAnswer } from '../src/alerts/alert-docs.ts'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupSchedules as setup } from './setup-schedules.ts'

const HOOK = { kind: 'webhook', url: 'https://example.com/secret-path', hmac: 'secret-key' }

test('there are rules from the start, and rules are made, replaced and deleted by name', async () => {
  await using t = await setup()
  const names = async () =>
    (await t.send('GET', '/alerts/rules')).body.items.map(({ name }: { name: string }) => name)
  expect(await names()).toEqual([
    'dead-letters',
    'failure-rate',
    'fuse-open',
    'late-ticks',
    'missed-ticks',
    'no-leader',
    'no-worker',
    'oldest-waiting',
    'outbox',
    'rejected-facts',
  ])
  const rule = { kind: 'outbox', parameters: { lag: '2m' }, matchers: { queue: 'emails' } }
  const made = await t.send('PUT', '/alerts/rules/mine', rule)
  expect([made.status, made.body]).toMatchObject([
    201,
    { name: 'mine', ...rule, parameters: { lag: '2m', depth: 1_000_000 }, revision: 1 },
  ])
  const again = await t.send('PUT', '/alerts/rules/mine', { ...rule, channels: ['ops'] })
  expect([again.status, again.body]).toMatchObject([200, { channels: ['ops'], revision: 2 }])
  expect((await t.send('DELETE', '/alerts/rules/mine')).status).toBe(204)
  expect((await t.send('GET', '/alerts/rules/mine')).status).toBe(404)
  expect((await t.send('DELETE', '/alerts/rules/mine')).status).toBe(404)
})

test('the secrets of a channel are never shown again, and kept when what is shown is sent back', async () => {
  await using t = await setup()
  const { status, body, text } = await t.send('PUT', '/alerts/channels/ops', HOOK)
  expect([status, body]).toMatchObject([
    201,
    { kind: 'webhook', url: { set: true }, hmac: { set: true }, default: false, enabled: true },
  ])
  const { name: _, author: __, revision: ___, changedAt: ____, ...shown } = body
  const back = await t.send('PUT', '/alerts/channels/ops', { ...shown, default: true })
  expect([back.status, back.body.default]).toEqual([200, true])
  const named = { ...HOOK, hmac: { secret: 'HOOK_KEY' } }
  const other = await t.send('PUT', '/alerts/channels/other', named)
  expect(other.body.hmac).toEqual({ secret: 'HOOK_KEY' })
  const seen = [text, back.text, (await t.send('GET', '/alerts/channels')).text].join('')
  expect(seen).not.toContain('secret-path')
  expect(seen).not.toContain('secret-key')
  const id = (await t.send('POST', '/alerts/channels/ops/test')).body.id
  const data = await t.redis.hget(keys.bullKey(t.prefix, 'alerts', id), 'data')
  expect(JSON.parse(data ?? '{}').payload).toMatchObject({
    channel: 'ops',
    url: HOOK.url,
    hmac: HOOK.hmac,
    message: { event: 'test', title: 'The channel ops works' },
  })
})

test.each([
  ['rules/x', { kind: 'nothing' }, 'kind'],
  ['rules/x', { kind: 'dead-letter', parameters: { window: 3 } }, 'parameters.window'],
  ['rules/x', { kind: 'dead-letter', repeatEvery: '0s' }, 'repeatEvery'],
  ['rules/x', { kind: 'no-leader', matchers: { job: 'a' } }, 'matchers.job'],
  ['rules/X', { kind: 'no-leader' }, 'name'],
  ['channels/x', { kind: 'webhook' }, 'url'],
  ['channels/x', { kind: 'webhook', url: { set: true } }, 'url'],
  ['channels/x', { kind: 'slack', url: 'ftp://example.com' }, 'url'],
  ['channels/x', { kind: 'email', to: [] }, 'to'],
  ['channels/x', { kind: 'email', to: ['nobody'] }, 'to.0'],
  ['silences/x', { from: '2026-01-01T00:00:00Z' }, 'until'],
  ['silences/x', { from: 'now', until: '2026-01-01T00:00:00Z' }, 'from'],
])('PUT %s with %j is refused and names the field %s', async (path, body, field) => {
  await using t = await setup()
  const answer = await t.send('PUT', `/alerts/${path}`, body)
  expect([
    answer.status,
    answer.body.errors?.map((error: { field: string }) => error.field),
  ]).toEqual([400, expect.arrayContaining([field])])
})

test('a silence has author and end, and is seen at the alerts that it keeps back', async () => {
  await using t = await setup()
  const nowMs = systemClock.now().getTime()
  const silence = {
    matchers: { rule: 'no-leader' },
    from: new Date(nowMs - HOUR).toISOString(),
    until: new Date(nowMs + HOUR).toISOString(),
    reason: 'a move',
  }
  expect((await t.send('PUT', '/alerts/silences/move', silence)).body).toMatchObject({
    ...silence,
    author: 'admin',
  })
  await t.send('PUT', '/alerts/rules/no-leader', { kind: 'no-leader', for: '0s' })
  const [alert] = await eventually(async () => {
    const { items } = (await t.send('GET', '/alerts?rule=no-leader&state=open')).body
    expect(items).toHaveLength(1)
    return items
  })
  expect(alert).toMatchObject({ state: 'open', messages: 0, silencedUntil: silence.until })
  const { body } = await t.send('GET', '/alerts')
  expect(AlertsAnswer.parse(body).warnings).toEqual([
    expect.stringContaining('No channel is marked "default"'),
    expect.stringContaining('No worker serves the queue alerts'),
  ])
  const { text: metrics } = await t.ask('/metrics')
  expect(metrics).toContain('jadwal_alerts_open{rule="no-leader"} 1')
  expect((await t.ask('/')).text).toContain('No scheduler leads: nothing is fired')
})

test('only Jadwal itself enqueues on the queue of alerts', async () => {
  await using t = await setup()
  const own = { ...EMAIL_JOB, name: 'alert.webhook', queue: 'alerts' }
  await publishCatalogue(t.redis, t.prefix, [own])
  const payload = { channel: 'x', url: 'http://127.0.0.1:9/', message: {} }
  expect((await t.post({ job: 'alert.webhook', payload })).status).toBe(422)
  const schedule = { job: 'alert.webhook', cron: '0 6 * * *', payload }
  expect((await t.send('PUT', '/schedules/mine', schedule)).status).toBe(422)
  const { items } = (await t.send('GET', '/jobs')).body
  expect(items.map(({ name }: { name: string }) => name)).toContain('alert.webhook')
})
