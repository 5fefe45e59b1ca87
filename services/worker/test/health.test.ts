import { fileURLToPath } from 'node:url'
import { systemClock } from '@jadwal/domain'
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

const fixture = (file: string) => fileURLToPath(new URL(`fixtures/${file}`, import.meta.url))

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
  const { port } = await bench.work({ JADWAL_LOCK_MS: '3000' })
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
  const { port, close: stopNewer } = await bench.work()
  await bench.add('ok', {}, { v: 2 })
  await eventually(async () =>
    expect(
      await metric(port, 'jadwal_left_alone_total{queue="tests",reason="form"}'),
    ).toBeGreaterThan(0),
  )
  // What was published of a job stays when its worker goes.
  const old = await bench.work({ JADWAL_JOBS: fixture('old-jobs.mjs') })
  await stopNewer()
  await bench.add('fails')
  await eventually(async () =>
    expect(
      await metric(old.port, 'jadwal_left_alone_total{queue="tests",reason="job"}'),
    ).toBeGreaterThan(0),
  )
})

test('how long a run waited for its first attempt is told once, whatever comes after', async () => {
  await using bench = openBench(server.url)
  const fromMs = systemClock.now().getTime()
  const id = await bench.add('bull-words')
  const { port } = await bench.work()
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 2 })
  const told = (part: string) =>
    metric(port, `jadwal_run_wait_seconds_${part}{queue="tests",job="bull-words"}`)
  await eventually(async () => expect(await told('count')).toBe(1))
  const [first] = await bench.facts(id)
  const startedMs = Date.parse(String(first?.['started_at']))
  const waitedMs = Number(await told('sum')) * 1_000
  expect(waitedMs).toBeGreaterThan(0)
  expect(waitedMs).toBeLessThanOrEqual(startedMs - fromMs + 1)
})

test('threads beside a worker are counted while they are there', async () => {
  await using bench = openBench(server.url)
  const { port } = await bench.work({ JADWAL_JOBS: fixture('threaded-jobs.mjs') })
  const threads = () => metric(port, 'jadwal_children{isolate="thread"}')
  expect(await threads()).toBe(0)
  await bench.add('drained', { ms: 60_000 })
  await bench.add('drained', { ms: 60_000 })
  await eventually(async () => expect(await threads()).toBe(2), { timeoutMs: 30_000 })
  expect(await metric(port, 'jadwal_children{isolate="process"}')).toBe(0)
}, 60_000)
