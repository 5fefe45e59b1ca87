import { createHmac } from 'node:crypto'
import { keys } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { apiClient, type Ask } from '../support/api-client.ts'
import { startMailbox, startWebhook } from '../support/receivers.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const IN_TIME = { timeoutMs: 90_000, everyMs: 250 }
const KEY = 'key-of-the-hook'

test('a dead letter reaches people once by each channel, through the death of an api and a channel that is away, and so does its end', async () => {
  const [hook, mailbox] = [await startWebhook(1), await startMailbox()]
  const env = { SMTP_URL: mailbox.url, JADWAL_SECRET_HOOK: KEY }
  const { start, producer, redis, prefix, database } = await setupSystem({ env })
  const first = start('api')
  await Promise.all([first.ready, start('recorder').ready, start('worker').ready])
  const asked: Ask = apiClient(first, 'test-admin-token')
  const put = async (path: string, body: object): Promise<void> =>
    expect((await asked('PUT', `/alerts/${path}`, body)).status).toBeLessThan(300)
  await put('channels/hook', {
    kind: 'webhook',
    url: hook.url,
    hmac: { secret: 'HOOK' },
    default: true,
  })
  await put('channels/mail', { kind: 'email', to: ['ops@example.com'], default: true })
  // No scheduler leads here, which is not what this is about.
  await put('rules/no-leader', { kind: 'no-leader', enabled: false })

  const dead = await producer.enqueue(JOBS.sick, { n: 1 })
  await eventually(async () => {
    expect(await redis.hlen(keys.alertStatesKey(prefix))).toBe(1)
  }, IN_TIME)
  await first.kill()
  const second = start('api')
  await second.ready
  const ask: Ask = apiClient(second, 'test-admin-token')
  await eventually(() => expect(mailbox.mails()).toHaveLength(1), IN_TIME)
  await eventually(() => expect(hook.taken).toHaveLength(1), IN_TIME)
  expect(hook.failuresLeft()).toBe(0)
  const [{ signature, body } = { signature: '', body: '{}' }] = hook.taken
  const [, t = '', v1 = ''] = /^t=(\d+),v1=(\w+)$/.exec(signature) ?? []
  expect(v1).toBe(createHmac('sha256', KEY).update(`${t}.${body}`).digest('hex'))
  expect(JSON.parse(body)).toMatchObject({
    event: 'opened',
    rule: 'dead-letters',
    count: 1,
    examples: [{ runId: dead }],
  })
  expect(mailbox.mails()[0]).toContain('1 run of fault.sick died')

  expect((await ask('POST', '/dead-letters/discard', { all: true, reason: 'a test' })).status).toBe(
    200,
  )
  await eventually(() => expect(hook.taken).toHaveLength(2), IN_TIME)
  await eventually(() => expect(mailbox.mails()).toHaveLength(2), IN_TIME)
  expect(mailbox.mails()[1]).toContain('Resolved: 1 run of fault.sick died')
  const { body: shown } = await ask('GET', '/alerts')
  expect(shown).toMatchObject({ items: [{ state: 'closed', messages: 2 }], warnings: [] })

  // The test button: a run that can be followed.
  const { body: tested } = await ask('POST', '/alerts/channels/mail/test')
  await eventually(async () => {
    const { body: run } = await ask('GET', `/runs/${String(tested['id'])}`)
    expect(run).toMatchObject({ state: 'succeeded', job: 'alert.email' })
  }, IN_TIME)
  expect(mailbox.mails()).toHaveLength(3)

  // Where it went to is in no row.
  const rows = await database.db
    .selectFrom('runs')
    .select(['payload', 'result', 'error'])
    .where('queue', '=', 'alerts')
    .execute()
  expect(rows.length).toBeGreaterThanOrEqual(4)
  expect(JSON.stringify(rows)).not.toContain(KEY)
}, 240_000)
