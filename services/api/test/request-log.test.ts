import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { pinoHttp } from 'pino-http'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { requestLog } from '../src/request-log.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const asItIs = (value: unknown): unknown => value

/** A server that answers each path with the status in it, and the lines of its log. */
async function setup() {
  const lines: object[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const serializers = { req: asItIs, res: asItIs }
  const { logger } = pinoHttp({ level: 'info', serializers, wrapSerializers: false }, stream)
  const closed: Promise<unknown>[] = []
  const app = express()
  app.use(requestLog(logger))
  app.use('/:status', (req, res) => {
    // After the log has heard of it.
    closed.push(once(res, 'close'))
    res.status(Number(req.params.status)).end()
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    lines,
    ask: async (paths: readonly string[]): Promise<void> => {
      await Promise.all(paths.map((path) => answered({ host: '127.0.0.1', port, path })))
      await Promise.all(closed)
    },
  }
}

/** Not by `fetch`, whose timers are shared by the whole process and must not become fake ones. */
async function answered(where: { host: string; port: number; path: string }): Promise<void> {
  const [answer] = (await once(get({ ...where, agent: false }), 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
}

test('requests that are answered with 503 share one line each 10 s, with their count', async () => {
  const { lines, ask } = await setup()
  await ask(['/503/first'])
  await ask(Array.from({ length: 30 }, (_, n) => `/503/${n}`))
  expect(lines).toEqual([
    expect.objectContaining({
      msg: 'request answered with an error',
      req: expect.objectContaining({ method: 'GET', url: '/503/first' }),
      res: { status: 503 },
    }),
  ])
  vi.advanceTimersByTime(10_000)
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatchObject({ count: 30, withinMs: 10_000, res: { status: 503 } })
  vi.advanceTimersByTime(60_000)
  expect(lines).toHaveLength(2)
})

test('every other error has a line of its own', async () => {
  const { lines, ask } = await setup()
  await ask(['/500/a', '/500/b', '/404/c'])
  expect(lines).toHaveLength(3)
  expect(lines).not.toContainEqual(expect.objectContaining({ count: expect.anything() }))
})

test('what signs somebody in is not in the log', async () => {
  const { lines, ask } = await setup()
  const secret = 'jdw_9f2c'
  await ask([
    `/404/login/oidc/callback?code=${secret}&state=${secret}`,
    `/404/runs?access_token=${secret}&state=dead`,
  ])
  expect(lines).toHaveLength(2)
  expect(JSON.stringify(lines)).not.toContain(secret)
  expect(JSON.stringify(lines)).toContain('state=dead')
})
