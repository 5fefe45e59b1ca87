import type { SMTPServerOptions } from 'smtp-server'
import { expect, test } from 'vitest'
import { emailSend } from '../src/email-send.ts'
import { readSettings } from '../src/settings.ts'
import { attempt, RUN_ID } from './attempt.ts'
import { startMailServer } from './mail-server.ts'

const mail = { to: 'ops@example.com', subject: 'Down', text: 'It is down.' }

async function setup(options: SMTPServerOptions = {}) {
  const server = await startMailServer(options)
  return { ...server, job: emailSend(readSettings({ SMTP_URL: server.url })) }
}

function refusing(responseCode: number): SMTPServerOptions {
  return {
    onRcptTo: (_address, _session, done) =>
      done(Object.assign(new Error('not today'), { responseCode })),
  }
}

test('a mail is delivered, with an id that is the same in every attempt', async () => {
  await using server = await setup()
  const result = await attempt(server.job, mail)
  expect(result).toMatchObject({ messageId: `<${RUN_ID}@jadwal>` })
  await attempt(server.job, mail, { attempt: 2 })
  expect(server.mails).toHaveLength(2)
  for (const text of server.mails) {
    expect(text).toContain('To: ops@example.com')
    expect(text).toContain('Subject: Down')
    expect(text).toContain(`Message-ID: <${RUN_ID}@jadwal>`)
    expect(text).toContain('It is down.')
  }
})

test('a subject cannot smuggle in another header', async () => {
  await using server = await setup()
  await attempt(server.job, { ...mail, subject: 'Down\r\nBcc: all@example.com' })
  expect(server.mails[0]).not.toMatch(/^Bcc:/m)
})

test('5xx of the mail server is permanent', async () => {
  await using server = await setup(refusing(550))
  await expect(attempt(server.job, mail)).rejects.toMatchObject({
    name: 'PermanentError',
    message: expect.stringContaining('550'),
  })
})

test('4xx of the mail server is tried again', async () => {
  await using server = await setup(refusing(451))
  await expect(attempt(server.job, mail)).rejects.toMatchObject({ responseCode: 451 })
})

test('a mail server that is not there is tried again', async () => {
  const server = await setup()
  await server[Symbol.asyncDispose]()
  await expect(attempt(server.job, mail)).rejects.toMatchObject({ code: 'ESOCKET' })
})

test('without SMTP_URL mail is permanent failure that names the variable', async () => {
  const sent = attempt(emailSend(readSettings({})), mail)
  await expect(sent).rejects.toMatchObject({
    name: 'PermanentError',
    message: expect.stringContaining('SMTP_URL'),
  })
})

test('an abort is not kept waiting by a silent mail server', async () => {
  const controller = new AbortController()
  const reason = new Error('stop')
  await using server = await setup({
    onConnect: () => controller.abort(reason), // and never greets
  })
  const sent = attempt(server.job, mail, { signal: controller.signal })
  await expect(sent).rejects.toBe(reason)
})
