import { Socket } from 'node:net'
import { type AnyJob, defineJob, PermanentError } from '@jadwal/sdk'
import { createTransport } from 'nodemailer'
import { z } from 'zod'
import type { Settings } from './settings.ts'

const EmailSendPayload = z.strictObject({
  to: z.email(),
  subject: z.string().max(500),
  text: z.string(),
  from: z.email().default('jadwal@localhost.localdomain'),
})

type Mail = z.output<typeof EmailSendPayload> & { messageId: string }

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
      const mail = { ...payload, messageId: `<${ctx.runId}@jadwal>` }
      const sent = await send(settings.smtpUrl, mail, ctx.signal)
      return { messageId: sent.messageId, response: sent.response }
    },
  })
}

/** An abort cuts the connection: whether the mail had been taken by then is not known. */
async function send(url: string, mail: Mail, signal: AbortSignal) {
  signal.throwIfAborted()
  const socket = new Socket()
  const cut = (): void => void socket.destroy()
  signal.addEventListener('abort', cut, { once: true })
  const transport = createTransport({
    url,
    socket,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    return await transport.sendMail(mail)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw permanentOr(error)
  } finally {
    signal.removeEventListener('abort', cut)
    socket.destroy()
  }
}

/** 5xx is the server's last word; 4xx and a connection that fails are worth another attempt. */
function permanentOr(error: unknown): unknown {
  const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
  return error instanceof Error && code >= 500
    ? new PermanentError(error.message, { cause: error })
    : error
}
