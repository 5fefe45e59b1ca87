import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { onFreePort } from './free-port.ts'

export interface MailSink {
  url: string
  port: number
  stop(): Promise<void>
}

const LARGEST_MAIL_BYTES = 25 * 1024 * 1024
/** Only the newest are kept, so that a demo that mails every minute does not fill the disk. */
const MAILS_KEPT = 1_000

/** An SMTP server on 127.0.0.1 that sends nothing on: each mail becomes a file `<time>-<random>.eml`. */
export async function startMailSink(folder: string, port = 0): Promise<MailSink> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return onFreePort(port, async (free) => {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      size: LARGEST_MAIL_BYTES,
      onData(stream, _session, done) {
        const receive = async (): Promise<void> => done(await keep(folder, stream))
        void receive()
      },
    })
    server.listen(free, '127.0.0.1')
    await once(server.server, 'listening')
    server.on('error', () => {})
    const taken = (server.server.address() as AddressInfo).port
    return {
      url: `smtp://127.0.0.1:${taken}`,
      port: taken,
      stop: () => new Promise((resolve) => server.close(() => resolve())),
    }
  })
}

/** Resolves with the error, if any, that the sender is to be told. */
async function keep(folder: string, stream: NodeJS.ReadableStream): Promise<Error | undefined> {
  try {
    await store(folder, await buffer(stream))
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

async function store(folder: string, mail: Buffer): Promise<void> {
  const time = new Date(performance.timeOrigin + performance.now()).toISOString()
  const name = `${time.replaceAll(':', '-')}-${randomBytes(3).toString('hex')}.eml`
  await writeFile(join(folder, name), mail, { mode: 0o600 })
  const mails = (await readdir(folder)).filter((file) => file.endsWith('.eml')).toSorted()
  const old = mails.slice(0, Math.max(0, mails.length - MAILS_KEPT))
  await Promise.all(old.map((file) => rm(join(folder, file), { force: true })))
}
