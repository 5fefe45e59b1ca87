import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '@jadwal/domain'
import { expect, onTestFinished, test } from 'vitest'
import { Api } from './api.ts'
import { ProblemError } from './api-errors.ts'
import type { StreamEvent } from './event-stream.ts'
import { followEvents } from './follow-events.ts'

/** An api whose n-th answer is the n-th of these. */
async function setup(answers: readonly ((res: ServerResponse) => void)[]) {
  const asked: IncomingHttpHeaders[] = []
  const server = createServer((req, res) => {
    const answer = answers[asked.length]
    asked.push(req.headers)
    if (answer) answer(res)
    else res.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = new AbortController()
  onTestFinished(() => {
    stop.abort()
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const troubles: string[] = []
  const events = followEvents(
    {
      api: new Api({ url, token: undefined }, stop.signal),
      clock: systemClock,
      stop: stop.signal,
      onTrouble: (message) => troubles.push(message),
    },
    { types: 'run.*' },
  )
  return { events, asked, troubles }
}

function stream(...chunks: string[]): (res: ServerResponse) => void {
  return (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks) res.write(chunk)
  }
}

async function take(events: AsyncGenerator<StreamEvent>, count: number): Promise<StreamEvent[]> {
  const taken: StreamEvent[] = []
  for await (const event of events) if (taken.push(event) === count) break
  return taken
}

test('after a lost stream it goes on behind the last id, also one that came without an event', async () => {
  const { events, asked, troubles } = await setup([
    (res) => {
      stream(
        'event: run.succeeded\nid: 5-0\ndata: {"id":',
        '"a"}\n\n',
        ': heartbeat\nid: 7-0\n\n',
      )(res)
      setTimeout(() => res.destroy(), 50)
    },
    (res) =>
      void res.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"status":503}'),
    stream('event: run.dead\r\nid: 8-0\r\ndata: {"id":"b"}\r\n\r\n'),
  ])
  expect(await take(events, 2)).toEqual([
    { type: 'run.succeeded', id: '5-0', data: '{"id":"a"}' },
    { type: 'run.dead', id: '8-0', data: '{"id":"b"}' },
  ])
  expect(asked.map((headers) => headers['last-event-id'])).toEqual([undefined, '7-0', '7-0'])
  expect(troubles.at(-1)).toBe('connected again')
})

function refuse(res: ServerResponse): void {
  res.writeHead(403, { 'content-type': 'application/problem+json' })
  res.end('{"status":403,"detail":"no"}')
}

test('what waiting does not cure is an error at once', async () => {
  const { events } = await setup([refuse])
  await expect(take(events, 1)).rejects.toThrow(ProblemError)
})
