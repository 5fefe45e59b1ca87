import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from './worker-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

async function page(port: number, path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return { status: response.status, text: await response.text() }
}

/** The value of a metric as it is shown; undefined when there is no such line. */
async function metric(port: number, name: string): Promise<number | undefined> {
  const { text } = await page(port, '/metrics')
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length))
}

test('a worker that drains is not ready, and says so', async () => {
  await using bench = openBench(server.url)
  const worker = await bench.work()
  const id = await bench.add('slow', { ms: 4_000 })
  await bench.reached(id, 'running')
  expect(await page(worker.port, '/readyz')).toMatchObject({ status: 200 })
  const closed = worker.close()
  const { status, text } = await page(worker.port, '/readyz')
  expect({ status, ...JSON.parse(text) }).toMatchObject({
    status: 'not ready',
    reasons: ['draining'],
  })
  expect(status).toBe(503)
  await closed
  await bench.reached(id, 'succeeded')
})

test('locks that are renewed and lost are counted', async () => {
  await using bench = openBench(server.url)
  const { port } = await bench.work({ JADWAL_LOCK_MS: '1000' })
  expect(await metric(port, 'jadwal_lost_locks_total')).toBe(0)
  const id = await bench.add('drained', { ms: 60_000 })
  await eventually(async () =>
    expect(await metric(port, 'jadwal_lock_renewals_total')).toBeGreaterThan(0),
  )
  await bench.redis.set(`${bench.queue.toKey(id)}:lock`, 'another', 'PX', 60_000)
  await eventually(async () => expect(await metric(port, 'jadwal_lost_locks_total')).toBe(1))
  expect(await metric(port, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
})

test('a handler that outlives its timeout is recorded as abandoned, and counted until it ends', async () => {
  await using bench = openBench(server.url)
  const { port } = await bench.work()
  const id = await bench.add('slow', { ms: 11_000 }, { timeoutMs: 100, attempts: 1 })
  expect(await bench.reached(id, 'dead')).toMatchObject({
    reason: 'failed',
    error: { name: 'AbandonedError', code: 'ABANDONED' },
  })
  expect(await metric(port, 'jadwal_abandoned_handlers')).toBe(1)
  await eventually(async () => expect(await metric(port, 'jadwal_abandoned_handlers')).toBe(0))
  expect((await bench.facts(id)).filter((fact) => fact['state'] !== 'running')).toHaveLength(1)
}, 40_000)

test('runs left for a worker of another version are counted by what is not known of them', async () => {
  await using bench = openBench(server.url)
  const { port } = await bench.work()
  await bench.add('ok', {}, { v: 2 })
  await eventually(async () =>
    expect(
      await metric(port, 'jadwal_left_alone_total{queue="tests",reason="form"}'),
    ).toBeGreaterThan(0),
  )
})
