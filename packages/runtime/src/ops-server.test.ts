import { afterEach, expect, test } from 'vitest'
import { createRegistry, startOpsServer, UnavailableError } from './index.ts'

const cleanup: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of cleanup.splice(0)) await close()
})

async function setup(options: { reasons?: string[]; metricsToken?: string } = {}) {
  const { reasons = [], metricsToken } = options
  const server = await startOpsServer({
    host: '127.0.0.1',
    port: 0,
    registry: createRegistry(),
    ready: () => reasons,
    metricsToken,
  })
  cleanup.push(server.close)
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const res = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })
    return { status: res.status, text: await res.text() }
  }
  return { get, port: server.port }
}

test('a service that can do its work is alive and ready', async () => {
  const { get } = await setup()
  expect(await get('/healthz')).toEqual({ status: 200, text: '{"status":"alive"}' })
  expect(await get('/readyz')).toEqual({ status: 200, text: '{"status":"ready"}' })
  expect((await get('/elsewhere')).status).toBe(404)
})

test('a service that cannot do its work is alive, and says why it is not ready', async () => {
  const { get } = await setup({ reasons: ['Redis does not answer'] })
  expect((await get('/healthz')).status).toBe(200)
  expect(await get('/readyz')).toEqual({
    status: 503,
    text: '{"status":"not ready","reasons":["Redis does not answer"]}',
  })
})

test('metrics are open unless a token is asked for', async () => {
  const open = await setup()
  const metrics = (await open.get('/metrics')).text
  expect(metrics).toContain('process_cpu_seconds_total')
  expect(metrics).not.toMatch(/nodejs_active_\w+_total/)

  const closed = await setup({ metricsToken: 'metrics-token' })
  expect((await closed.get('/metrics')).status).toBe(401)
  expect((await closed.get('/metrics', { authorization: 'Bearer wrong' })).status).toBe(401)
  expect((await closed.get('/metrics', { authorization: 'Bearer metrics-token' })).status).toBe(200)
})

test('a port that is taken is named', async () => {
  const { port } = await setup()
  const second = startOpsServer({
    host: '127.0.0.1',
    port,
    registry: createRegistry(),
    ready: () => [],
  })
  await expect(second).rejects.toThrow(UnavailableError)
  await expect(second).rejects.toThrow(`127.0.0.1:${port} (JADWAL_PORT)`)
})
