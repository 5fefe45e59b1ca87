import { Socket } from 'node:net'
import { PermanentError } from '@jadwal/sdk'
import { createTransport, type SendMailOptions } from 'nodemailer'

const CONNECT_MS = 10_000
const SILENCE_MS = 30_000

/**
 * Sends a mail over the server at `url`. Throws `PermanentError` for 5xx of the server. An abort cuts the
 * connection: whether the mail had been taken by then is not known.
 */
export async function sendMail(
  url: string,
  mail: SendMailOptions,
  signal: AbortSignal,
): Promise<{ messageId: string; response: string }> {
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
