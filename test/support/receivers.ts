import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startMailSink } from '@jadwal/embedded'
import { makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface Received {
  signature: string
  body: string
}

/** A webhook on a free port that answers 503 the first times, and what it took after that. */
export async function startWebhook(failures: number) {
  const taken: Received[] = []
  let left = failures
  const server = createServer((request, response) => {
    const receive = async (): Promise<void> => {
      const body = await text(request)
      if (left > 0) {
        left -= 1
        response.writeHead(503).end()
        return
      }
      taken.push({ signature: String(request.headers['x-jadwal-signature']), body })
      response.end('ok')
    }
    void receive()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, taken, failuresLeft: () => left }
}

/** A real mail server, and the mails that it was sent. */
export async function startMailbox() {
  const folder = makeTempFolder('mailbox')
  const sink = await startMailSink(folder)
  onTestFinished(async () => {
    await sink.stop()
    removeTempFolder(folder)
  })
  const mails = (): string[] =>
    readdirSync(folder)
      .toSorted()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
  return { url: sink.url, mails }
}
