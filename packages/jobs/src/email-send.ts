import { type AnyJob, defineJob, PermanentError } from '@jadwal/sdk'
import { z } from 'zod'
import { sendMail } from './send-mail.ts'
import type { Settings } from './settings.ts'

/** Who a mail comes from that names nobody. */
export const DEFAULT_FROM = 'jadwal@localhost.localdomain'

const EmailSendPayload = z.strictObject({
  to: z.email(),
  subject: z.string().max(500),
  text: z.string(),
  from: z.email().default(DEFAULT_FROM),
})

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
      const mail = { ...payload, messageId: `<${ctx.runId}@jadwal>` }
      const sent = await sendMail(settings.smtpUrl, mail, ctx.signal)
      return { messageId: sent.messageId, response: sent.response }
    },
  })
}
