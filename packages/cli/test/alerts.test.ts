import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startMailbox, startWebhook } from '../../../test/support/receivers.ts'
import { setupSystem } from './jadwal.ts'

const KEY = 'key-of-the-hook'

/** What answers that it is not there: no try will get better. */
async function startNowhere(): Promise<string> {
  const server = createServer((_req, res) => res.writeHead(404).end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('a test message is sent to a webhook and to a mailbox; one that does not arrive is told of, and why', async () => {
  const [hook, mailbox, nowhere] = [
    await startWebhook(0),
    await startMailbox(),
    await startNowhere(),
  ]
  const system = await setupSystem(['worker', 'recorder'], {
    SMTP_URL: mailbox.url,
    JADWAL_SECRET_HOOK: KEY,
  })
  onTestFinished(() => system[Symbol.asyncDispose]())
  const { good, jadwal } = system
  const set = (name: string, channel: object) =>
    good(['alerts', 'channels', 'set', name, '-'], { input: JSON.stringify(channel) })
  await set('hook', { kind: 'webhook', url: hook.url, hmac: { secret: 'HOOK' } })
  await set('mail', { kind: 'email', to: ['ops@example.com'] })
  await set('gone', { kind: 'webhook', url: nowhere })

  const posted = await good(['alerts', 'test', 'hook', '--wait'])
  expect(posted.output).toMatch(/^[0-9a-f-]{36} succeeded/)
  expect(hook.taken).toHaveLength(1)
  const [{ signature, body } = { signature: '', body: '{}' }] = hook.taken
  expect(JSON.parse(body)).toMatchObject({ version: 1, event: 'test' })
  const [, at = '', signed] = /^t=(\d+),v1=(\w+)$/.exec(signature) ?? []
  expect(signed).toBe(createHmac('sha256', KEY).update(`${at}.${body}`).digest('hex'))

  const begun = await good(['alerts', 'test', 'mail', '--json'])
  const { id } = begun.json as { id: string }
  expect((await good(['runs', 'wait', id])).output).toContain(`${id} succeeded`)
  expect(mailbox.mails()).toHaveLength(1)
  expect(mailbox.mails()[0]).toMatch(/^To: ops@example\.com\r?$/m)

  const lost = await jadwal(['alerts', 'test', 'gone', '--wait'])
  expect(lost.exitCode).toBe(1)
  expect(lost.output).toMatch(/ dead[^]*404/)
  const unknown = await jadwal(['alerts', 'test', 'nobody'])
  expect(unknown).toMatchObject({ exitCode: 1, output: '' })
  expect(unknown.errors).toContain('nobody')
}, 120_000)
