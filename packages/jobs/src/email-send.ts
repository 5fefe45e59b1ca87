import { once } from 'node:events'
import { type AnyJob, defineJob, PermanentError } from '@jadwal/sdk'
import { createTransport } from 'nodemailer'
import { z } from 'zod'
import type { Settings } from './settings.ts'

export const EmailSendPayload = z.strictObject({
  to: z.email(),
  subject: z.string().max(500),
  text: z.string(),
  from: z.email().default('jadwal@localhost.localdomain'),
})

const CONNECT_MS = 10_000
const SILENCE_MS = 30_000

/** `email.send`: one mail. Its message id is made of the run's id, so that a receiver can tell a repeated one. */
export function emailSend(settings: Settings): AnyJob {
  return defineJob({
    name: 'email.send',
    queue: 'emails',
    description: 'Sends a mail over SMTP_URL: 5xx of the mail server is final.',
    payload: EmailSendPayload,
    attempts: 5,
    async handler(payload, ctx) {
      if (settings.smtpUrl === undefined)
        throw new PermanentError('SMTP_URL is not set: the worker does not know where to send mail')
      ctx.signal.throwIfAborted()
      const transport = createTransport({
        url: settings.smtpUrl,
        connectionTimeout: CONNECT_MS,
        greetingTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      const mail = { ...payload, messageId: `<${ctx.runId}@jadwal>` }
      const aborted = once(ctx.signal, 'abort')
      const sent = await Promise.race([
        transport.sendMail(mail).catch((error: unknown) => refuse(error)),
        aborted.then(() => Promise.reject(ctx.signal.reason)),
      ])
      return { messageId: sent.messageId, response: sent.response }
    },
  })
}

/** 5xx is the server's last word; 4xx and a connection that fails are worth another attempt. */
function refuse(error: unknown): never {
  const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
  if (error instanceof Error && code >= 500)
    throw new PermanentError(error.message, { cause: error })
  throw error
}
