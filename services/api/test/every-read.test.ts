import { afterAll, beforeAll, expect, test } from 'vitest'
import { listOperations } from './list-routes.ts'
import { setupHistory } from './setup-history.ts'

/** Never ends: its test is that of events. */
const STREAM = '/api/v1/events'

let t: Awaited<ReturnType<typeof setupHistory>>
beforeAll(async () => {
  t = await setupHistory()
})
afterAll(async () => t[Symbol.asyncDispose]())

function reads(): string[] {
  return listOperations().flatMap(({ method, path }) => (method === 'GET' ? [path] : []))
}

test('a parameter of the query that an operation does not have is refused by its name', async () => {
  const asked = listOperations().filter(({ path }) => path.startsWith('/api/v1/'))
  expect(asked.length).toBeGreaterThan(60)
  for (const { method, path } of asked) {
    const { status, body } = await t.api.ask(`${path}?limt=5`, { method })
    expect([method, path, status, body?.errors?.[0]?.field]).toEqual([method, path, 400, 'limt'])
  }
}, 60_000)

test('HEAD is answered like GET, without the body', async () => {
  for (const path of reads()) {
    if (path === STREAM) continue
    const head = await t.api.ask(path, { method: 'HEAD' })
    const { status, headers } = await t.api.ask(path)
    const said = [path, status, headers.get('content-type')]
    expect([path, head.status, head.headers.get('content-type')]).toEqual(said)
    expect([path, head.text]).toEqual([path, ''])
  }
}, 60_000)

test('HEAD of the stream of events ends', async () => {
  const signal = AbortSignal.timeout(10_000)
  const { status, text } = await t.api.ask(STREAM, { method: 'HEAD', signal })
  expect([status, text]).toEqual([200, ''])
}, 20_000)
