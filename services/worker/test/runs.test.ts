import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { publishCatalogue, readWorkers } from '@jadwal/queue'
import { type JobDescription, systemClock } from '@jadwal/domain'
import { VERSION } from '@jadwal/runtime'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from './worker-bench.ts'

const OLD_JOBS = fileURLToPath(new URL('fixtures/old-jobs.mjs', import.meta.url))
const DESCRIPTION: Omit<JobDescription, 'name'> = {
  queue: 'tests',
  attempts: 2,
  backoff: { type: 'exponential', delayMs: 50, maxDelayMs: 100, jitter: 0 },
  timeoutMs: 60_000,
  payloadSchema: {},
}

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

/** Which every worker serves. */
const ALERTS = { name: 'alerts', concurrency: 5 }

test('a run gets its payload and its context, and its result is recorded', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('ok', { a: 1 })
  const fact = await bench.reached(id, 'succeeded')
  expect(fact['result']).toEqual({ echo: { a: 1 }, runId: id, attempt: 1 })
})

test('a payload that breaks its schema ends the run at once, and each bad field is named', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('strict', { n: 'seven' })
  const fact = await bench.reached(id, 'dead')
  expect(fact).toMatchObject({ reason: 'invalid-payload', attempt: 1 })
  expect(fact['error']).toHaveProperty('message', expect.stringMatching(/to: .*; n: .*number/))
  expect(await bench.facts(id)).toHaveLength(1)
})

test('the handler gets what the schema makes of the payload, also when it takes its time', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const filled = await bench.add('defaults')
  const slow = await bench.add('checked-later', { n: 1 })
  const wrong = await bench.add('checked-later', { n: -1 })
  expect(await bench.reached(filled, 'succeeded')).toHaveProperty('result', { n: 7 })
  expect(await bench.reached(slow, 'succeeded')).toHaveProperty('result', { n: 1 })
  expect(await bench.reached(wrong, 'dead')).toHaveProperty('reason', 'invalid-payload')
})

test('a job that nobody knows ends as a dead letter', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('nobody-home')
  expect(await bench.reached(id, 'dead')).toHaveProperty('reason', 'unknown-job')
  expect(await bench.dead.getJob(id)).toBeDefined()
})

test('a run of a job that only other workers know waits for one, and uses no attempt', async () => {
  await using bench = openBench(server.url)
  const old = await bench.work({ JADWAL_JOBS: OLD_JOBS })
  await publishCatalogue(bench.redis, bench.prefix, [{ ...DESCRIPTION, name: 'fails' }])
  const id = await bench.add('fails')
  await eventually(async () => expect(await bench.queue.getDelayedCount()).toBe(1))
  await old.close()
  expect(await bench.facts(id)).toEqual([])
  await bench.work()
  await bench.reached(id, 'dead')
  const states = (await bench.facts(id)).map((fact) => fact['state'])
  expect(states).toEqual(['retrying', 'dead'])
})

test('a run of a job that moved to another queue is a dead letter that names the queue', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const moved = { ...DESCRIPTION, name: 'moved', queue: 'elsewhere' }
  await publishCatalogue(bench.redis, bench.prefix, [moved])
  const dead = await bench.reached(await bench.add('moved'), 'dead')
  expect(dead).toMatchObject({ reason: 'unknown-job' })
  expect(dead['error']).toHaveProperty('message', expect.stringContaining('queue elsewhere now'))
})

test('a job that always fails makes exactly its attempts, then one dead letter', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('fails')
  const more = await bench.add('fails', {}, { attempts: 4 })
  expect(await bench.reached(id, 'dead')).toMatchObject({ reason: 'failed', attempt: 2 })
  expect(await bench.reached(more, 'dead')).toMatchObject({ reason: 'failed', attempt: 4 })
  expect((await bench.facts(more)).map((fact) => fact['state'])).toEqual([
    'retrying',
    'retrying',
    'retrying',
    'dead',
  ])
  expect(await bench.dead.getJobCounts()).toMatchObject({ waiting: 2 })
})

test('a PermanentError ends the run, a RetryLaterError sets its own delay, by name alone', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const permanent = await bench.add('permanent')
  const later = await bench.add('later')
  expect(await bench.reached(permanent, 'dead')).toMatchObject({ reason: 'permanent', attempt: 1 })
  expect(await bench.reached(later, 'succeeded')).toMatchObject({ attempt: 2 })
  const [retrying] = await bench.facts(later)
  const waitMs =
    Date.parse(String(retrying?.['run_at'])) -
    Date.parse(String(retrying?.['finished_at'] ?? retrying?.['attempt_finished_at']))
  expect(waitMs).toBe(700)
})

test('an error with a name or message that means something to BullMQ is a failure like any other', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('bull-words')
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 2, result: 'made it' })
})

test('secrets reach the handler but no fact', async () => {
  await using bench = openBench(server.url)
  await bench.work({ JADWAL_SECRET_KEY: 'hunter22' })
  const id = await bench.add('secret', { key: { secret: 'KEY' }, list: [{ secret: 'KEY' }] })
  const missing = await bench.add('secret', { key: { secret: 'ABSENT' } })
  const fact = await bench.reached(id, 'succeeded')
  expect(fact).toMatchObject({ payload: { key: { secret: 'KEY' } }, result: { length: 8 } })
  const dead = await bench.reached(missing, 'dead')
  expect(dead).toMatchObject({ reason: 'permanent' })
  expect(dead['error']).toHaveProperty('message', expect.stringContaining('JADWAL_SECRET_ABSENT'))
})

test('a secret that a handler echoes is in no fact, message or log line', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn({ JADWAL_SECRET_KEY: 'hunter"22' })
  await worker.ready
  const id = await bench.add('echoes', { key: { secret: 'KEY' } })
  const thrown = await bench.add('echoes', { key: { secret: 'KEY' }, how: 'throw' })
  const result = { '***': ['Bearer ***'], body: '{"key":"***"}', count: 22 }
  expect(await bench.reached(id, 'succeeded')).toHaveProperty('result', result)
  const dead = await bench.reached(thrown, 'dead')
  expect(dead).toMatchObject({ reason: 'permanent', error: { message: 'refused: ***' } })
  const letter = await bench.dead.getJob(thrown)
  expect(letter?.failedReason).toBe('permanent: refused: ***')
  await worker.waitForLog('the key is ***')
  await worker.waitForLog('run moved to dead letters')
  for (const text of [JSON.stringify([dead, letter]), ...worker.logs]) {
    expect(text).not.toContain('hunter')
  }
})

test('an attempt past its timeout has failed, whether its handler listens or not', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const polite = await bench.add('polite')
  const deaf = await bench.add('deaf')
  const own = await bench.add('slow', { ms: 60_000 }, { timeoutMs: 50, attempts: 1 })
  const listened = await bench.reached(polite, 'dead')
  expect(listened['error']).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT' })
  for (const id of [deaf, own]) {
    const fact = await bench.reached(id, 'dead')
    expect(fact['error']).toMatchObject({ name: 'AbandonedError', code: 'ABANDONED' })
  }
}, 60_000)

test('an attempt that runs for more than a second is told to be running', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('slow', { ms: 4_000 })
  expect(await bench.reached(id, 'running')).toMatchObject({ attempt: 1, revision: 11 })
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ result: 'slept' })
})

test('a result that is no JSON does not fail the run', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('circular')
  expect(await bench.reached(id, 'succeeded')).toHaveProperty('result.unserialisable')
})

test('a worker tells what it is and has in hand, and that it drains', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn({ JADWAL_QUEUES: 'tests:3', JADWAL_GRACE_MS: '60000' })
  await worker.ready
  const id = await bench.add('slow', { ms: 60_000 })
  const { started_at: startedAt } = await bench.reached(id, 'running')
  const told = async (about: object) =>
    await eventually(
      async () => {
        const nowMs = systemClock.now().getTime()
        const workers = await readWorkers(bench.redis, bench.prefix, nowMs)
        expect(workers).toMatchObject([about])
      },
      { timeoutMs: 30_000 },
    )
  const inHand = {
    host: hostname(),
    pid: worker.pid,
    version: VERSION,
    queues: [{ name: 'tests', concurrency: 3 }, ALERTS],
    running: [{ id, job: 'slow', attempt: 1, startedAt }],
    runningCount: 1,
  }
  const memoryBytes = expect.toSatisfy((bytes: number) => bytes > 2 ** 20)
  await told({ ...inHand, memoryBytes, state: 'running' })
  worker.child.kill('SIGTERM')
  await told({ ...inHand, state: 'draining' })
  expect(await worker.stop()).toBe(0)
}, 90_000)

test('a worker is on the list while it lives, and serves health and metrics', async () => {
  await using bench = openBench(server.url)
  const worker = await bench.work({ JADWAL_QUEUES: 'tests:3@50/s' })
  const id = await bench.add('ok')
  await bench.reached(id, 'succeeded')
  const alive = await eventually(async () => {
    const workers = await readWorkers(bench.redis, bench.prefix, systemClock.now().getTime())
    expect(workers).toHaveLength(1)
    return workers
  })
  const rate = { max: 50, perMs: 1_000 }
  expect(alive[0]).toMatchObject({
    state: 'running',
    queues: [{ name: 'tests', concurrency: 3, rate }, ALERTS],
  })
  const page = async (path: string) => fetch(`http://127.0.0.1:${worker.port}${path}`)
  expect((await page('/readyz')).status).toBe(200)
  const metrics = await (await page('/metrics')).text()
  expect(metrics).toContain('jadwal_runs_total{queue="tests",job="ok",outcome="succeeded"} 1')
  expect(metrics).toContain('jadwal_attempts_total{outcome="succeeded"} 1')
  expect(metrics).toContain('jadwal_run_duration_seconds_count{queue="tests",job="ok"} 1')
  await worker.close()
  expect(await readWorkers(bench.redis, bench.prefix, systemClock.now().getTime())).toEqual([])
})
