import { createHmac } from 'node:crypto'
import type { AlertMessage } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { createAlertJobs } from '../src/create-alert-jobs.ts'
import { attempt, RUN_ID } from './attempt.ts'
import { readBody, serve } from './http-server.ts'
import { startMailServer } from './mail-server.ts'

const MESSAGE: AlertMessage = {
  version: 1,
  event: 'opened',
  alertId: '01990000-0000-7000-8000-00000000000a',
  sequence: 1,
  rule: 'dead-letters',
  kind: 'dead-letter',
  subject: { job: 'email.send', queue: 'emails' },
  title: '3 runs of email.send died of "Error: <!channel> no answer"',
  since: '2026-09-01T10:00:00.000Z',
  at: '2026-09-01T10:00:10.000Z',
  count: 3,
  examples: [
    {
      text: 'Error: no answer',
      runId: RUN_ID,
      link: `https://jobs.example.com/api/v1/runs/${RUN_ID}`,
    },
  ],
  link: 'https://jobs.example.com/',
  advice: 'Look at the error, then redrive or discard them.',
}

function job(kind: string, smtpUrl?: string) {
  const found = createAlertJobs(smtpUrl === undefined ? {} : { smtpUrl }).find(
    ({ name }) => name === `alert.${kind}`,
  )
  if (!found) throw new Error(`no job alert.${kind}`)
  return found
}

test('they are on the queue alerts, tried eight times over about an hour, and hide where they send to', () => {
  for (const kind of ['webhook', 'slack', 'email'])
    expect(job(kind)).toMatchObject({ queue: 'alerts', attempts: 8 })
  expect(job('webhook').redact).toEqual(['url', 'hmac'])
  expect(job('slack').redact).toEqual(['url'])
  const { backoff } = job('webhook')
  if (backoff.type !== 'exponential') throw new Error('another backoff')
  const waits = [1, 2, 3, 4, 5, 6, 7].map((n) =>
    Math.min(backoff.delayMs * 2 ** (n - 1), backoff.maxDelayMs),
  )
  const minutes = waits.reduce((sum, ms) => sum + ms, 0) / 60_000
  expect(minutes).toBeGreaterThan(30)
  expect(minutes).toBeLessThan(90)
})

test('a webhook gets the message as JSON, with a signature over its time and body', async () => {
  const seen: { headers: Record<string, unknown>; body: string }[] = []
  await using server = await serve(async (request, response) => {
    seen.push({ headers: request.headers, body: await readBody(request) })
    response.writeHead(204).end()
  })
  const payload = { channel: 'ops', url: server.url, hmac: 'key', message: MESSAGE }
  expect(await attempt(job('webhook'), payload)).toEqual({ status: 204 })
  const [{ headers, body }] = seen as [(typeof seen)[number]]
  expect(JSON.parse(body)).toEqual(MESSAGE)
  expect(headers).toMatchObject({ 'idempotency-key': RUN_ID, 'x-jadwal-event': 'alert.opened' })
  const [, t = '', v1 = ''] =
    /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers['x-jadwal-signature'])) ?? []
  expect(v1).toBe(createHmac('sha256', 'key').update(`${t}.${body}`).digest('hex'))
})

test('Slack gets a text and blocks in which nothing calls people', async () => {
  let body = ''
  await using server = await serve(async (request, response) => {
    body = await readBody(request)
    response.end('ok')
  })
  await attempt(job('slack'), { channel: 'ops', url: server.url, message: MESSAGE })
  const { text, blocks } = JSON.parse(body)
  expect(text).toContain('[Jadwal] 3 runs of email.send died')
  expect(text).not.toContain('<!channel>')
  expect(text).toContain(`<https://jobs.example.com/api/v1/runs/${RUN_ID}|Error: no answer>`)
  expect(blocks.map(({ type }: { type: string }) => type)).toEqual(['header', 'section'])
})

test.each([
  [500, 'Error'],
  [404, 'PermanentError'],
  [302, 'PermanentError'],
])('%d of a channel is a %s that names the host alone', async (status, name) => {
  await using server = await serve((_request, response) => {
    response.writeHead(status, { location: 'https://example.com/' }).end()
  })
  const sent = attempt(job('slack'), {
    channel: 'ops',
    url: `${server.url}/services/T000/secret`,
    message: MESSAGE,
  })
  await expect(sent).rejects.toMatchObject({
    name,
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ answered \d+$/),
  })
})

test('a channel that asks to wait is asked again no later than in 20 minutes', async () => {
  await using server = await serve((_request, response) => {
    response.writeHead(429, { 'retry-after': '7200' }).end()
  })
  const sent = attempt(job('slack'), { channel: 'ops', url: server.url, message: MESSAGE })
  await expect(sent).rejects.toMatchObject({ name: 'RetryLaterError', delayMs: 20 * 60_000 })
})

test('link-local addresses, where clouds keep credentials, are refused for good', async () => {
  const url = 'http://169.254.169.254/latest/'
  const sent = attempt(job('webhook'), { channel: 'ops', url, message: MESSAGE })
  await expect(sent).rejects.toMatchObject({
    name: 'PermanentError',
    message: expect.stringContaining('link-local'),
  })
})

test('a mail reaches several people as text and HTML, in one thread an alert', async () => {
  await using server = await startMailServer()
  const to = ['ops@example.com', 'billing@example.com']
  await attempt(job('email', server.url), { channel: 'mail', to, message: MESSAGE })
  const [mail = ''] = server.mails
  expect(mail).toContain('To: ops@example.com, billing@example.com')
  expect(mail).toMatch(/^Subject: =\?UTF-8\?Q\?=5BJadwal=5D_3_runs/m)
  expect(mail).toContain('[Jadwal] 3 runs of email.send died')
  expect(mail).toContain(`Message-ID: <${RUN_ID}@jadwal>`)
  expect(mail).toContain(`References: <alert-${MESSAGE.alertId}@jadwal>`)
  expect(mail).toContain('Content-Type: text/plain')
  expect(mail).toContain('Content-Type: text/html')
  expect(mail).toContain('&lt;!channel&gt;')
})

test('a worker without SMTP_URL leaves the mail to the next attempt', async () => {
  const sent = attempt(job('email'), { channel: 'mail', to: ['ops@example.com'], message: MESSAGE })
  await expect(sent).rejects.toMatchObject({
    name: 'Error',
    message: expect.stringContaining('SMTP_URL is not set'),
  })
})
