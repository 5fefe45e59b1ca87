import { setTimeout as sleep } from 'node:timers/promises'
import { createProducer } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBench } from './worker-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

test('SIGTERM lets an attempt finish within the grace', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn({ JADWAL_GRACE_MS: '10000' })
  await worker.ready
  const id = await bench.add('slow', { ms: 4_000 })
  await bench.reached(id, 'running')
  expect(await worker.stop()).toBe(0)
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 1, result: 'slept' })
  expect(await bench.queue.getJobCounts()).toMatchObject({ active: 0, waiting: 0 })
})

test('an attempt that outlives the grace is cut short and done again by another worker at once', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn({ JADWAL_GRACE_MS: '200' })
  await worker.ready
  const id = await bench.add('drained', { ms: 60_000 })
  await bench.reached(id, 'running')
  expect(await worker.stop()).toBe(0)
  expect((await bench.facts(id)).at(-1)).toMatchObject({
    state: 'queued',
    reason: 'drained',
    attempt: 1,
    attempt_state: 'drained',
  })
  await bench.work()
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 2, result: 'again' })
})

test('a handler that does not listen cannot keep a worker from stopping, and a second signal hurries it', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn({ JADWAL_GRACE_MS: '60000' })
  await worker.ready
  const id = await bench.add('slow', { ms: 60_000 })
  await bench.reached(id, 'running')
  worker.child.kill('SIGTERM')
  await worker.waitForLog('draining')
  expect(await worker.stop()).toBe(0)
  expect((await bench.facts(id)).at(-1)).toMatchObject({ state: 'queued', reason: 'drained' })
})

test('a worker can stop while Redis is away', async () => {
  await using own = await startTestRedis()
  await using bench = openBench(own.url)
  const worker = bench.spawn({ JADWAL_GRACE_MS: '300' })
  await worker.ready
  const id = await bench.add('slow', { ms: 60_000 })
  await bench.reached(id, 'running')
  await own.kill()
  expect(await worker.stop()).toBe(0)
  await own.start()
})

test('what ends while Redis starts again is told to it within the grace', async () => {
  await using own = await startTestRedis({ appendfsync: 'always' })
  await using bench = openBench(own.url)
  const worker = bench.spawn({ JADWAL_GRACE_MS: '20000' })
  await worker.ready
  const id = await bench.add('slow', { ms: 4_000 })
  await bench.reached(id, 'running')
  await own.kill()
  worker.child.kill('SIGTERM')
  await worker.waitForLog('draining')
  await sleep(4_500)
  expect(worker.child.exitCode).toBeNull()
  await own.start()
  expect(await worker.exitCode()).toBe(0)
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 1, result: 'slept' })
  await eventually(async () => expect(await bench.queue.getJob(id)).toBeUndefined())
})

test('with nothing in hand a worker does not wait for a Redis that is away', async () => {
  await using own = await startTestRedis()
  await using bench = openBench(own.url)
  const worker = bench.spawn({ JADWAL_GRACE_MS: '60000' })
  await worker.ready
  await own.kill()
  expect(await worker.stop()).toBe(0)
  await own.start()
})

test('a worker goes on by itself after Redis was away, without a flood of log lines', async () => {
  await using own = await startTestRedis()
  await using bench = openBench(own.url)
  const worker = bench.spawn()
  await worker.ready
  await own.stop()
  await own.start()
  const id = await bench.add('ok')
  await bench.reached(id, 'succeeded')
  expect(worker.logs.length).toBeLessThan(60)
})

test('an uncaught error fails the attempt that it came from, and the worker ends with 70', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn()
  await worker.ready
  const id = await bench.add('crashes')
  expect(await worker.exitCode()).toBe(70)
  expect(await bench.reached(id, 'dead')).toMatchObject({
    reason: 'failed',
    error: { message: 'outside of any promise' },
  })
})

test('the others finish, and a culprit among several is found when it is made again', async () => {
  await using bench = openBench(server.url)
  const first = bench.spawn({ JADWAL_GRACE_MS: '3000' })
  await first.ready
  const slow = await bench.add('slow', { ms: 1_000 })
  const culprit = await bench.add('crashes', { waitForever: true }, { attempts: 1 })
  expect(await first.exitCode()).toBe(70)
  expect(await bench.reached(slow, 'succeeded')).toMatchObject({ attempt: 1 })
  expect((await bench.facts(culprit)).at(-1)).toMatchObject({ reason: 'drained', attempt: 1 })

  const second = bench.spawn({ JADWAL_GRACE_MS: '3000' })
  const other = await bench.add('slow', { ms: 1_000 })
  expect(await second.exitCode()).toBe(70)
  expect(await bench.reached(culprit, 'dead')).toMatchObject({ attempt: 2, reason: 'failed' })
  expect(await bench.reached(other, 'succeeded')).toMatchObject({ attempt: 1 })
}, 60_000)

test('an error that may be of any of several attempts does not keep the worker for its whole grace', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn({ JADWAL_GRACE_MS: '60000' })
  await worker.ready
  const long = await bench.add('drained', { ms: 60_000 })
  await bench.reached(long, 'running')
  const culprit = await bench.add('crashes', { waitForever: true })
  expect(await worker.exitCode()).toBe(70)
  for (const id of [long, culprit]) {
    expect((await bench.facts(id)).at(-1)).toMatchObject({ reason: 'drained', attempt: 1 })
  }
})

test('a run that kills its workers is a dead letter after the third', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add('kills')
  for (let deaths = 0; deaths < 3; deaths += 1) {
    const worker = bench.spawn({ JADWAL_LOCK_MS: '1000' })
    expect(await worker.exitCode()).toBe(-1)
  }
  await bench.spawn({ JADWAL_LOCK_MS: '1000' }).ready
  expect(await bench.reached(id, 'dead')).toMatchObject({ reason: 'lost', attempt: 4 })
  await eventually(async () => expect(await bench.dead.getJob(id)).toBeDefined())
  const lost = (await bench.facts(id)).filter((fact) => fact['kind'] === 'attempt')
  expect(lost.map((fact) => fact['attempt'])).toEqual([1, 2, 3])
}, 120_000)

test('a worker that was frozen past its locks does no harm when it goes on', async () => {
  await using bench = openBench(server.url)
  const frozen = bench.spawn({ JADWAL_LOCK_MS: '3000' })
  await frozen.ready
  const id = await bench.add('slow', { ms: 4_000 })
  await bench.reached(id, 'running')
  frozen.pause()
  const rescuer = await bench.work({ JADWAL_LOCK_MS: '3000' })
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 2 })
  await eventually(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${rescuer.port}/metrics`)).text()
    expect(metrics).toMatch(/^jadwal_rescued_runs_total 1$/m)
  })
  frozen.resume()
  await frozen.waitForLog('its outcome does not count')
  const facts = await bench.facts(id)
  expect(facts.filter((fact) => fact['state'] === 'succeeded')).toHaveLength(1)
  expect(facts).toContainEqual({ kind: 'attempt', id, attempt: 1, attempt_state: 'lost' })
}, 60_000)

test('a full Redis is worked off without a storm, producers are turned away, and then all goes on', async () => {
  await using own = await startTestRedis()
  await using bench = openBench(own.url)
  const { prefix } = bench
  const worker = bench.spawn({ JADWAL_QUEUES: 'tests:1', JADWAL_LOCK_MS: '5000' })
  await worker.ready
  // Longer than a lock that is not renewed.
  const inHand = await bench.add('slow', { ms: 12_000 })
  await eventually(async () => expect(await bench.queue.getActiveCount()).toBe(1))
  const waiting = [await bench.add('ok'), await bench.add('slow', { ms: 500 })]
  await bench.redis.config('SET', 'maxmemory', '1mb')
  await expect(bench.redis.set('any', 'thing')).rejects.toThrow(/^OOM/)
  const producer = createProducer({ url: own.url, prefix, onError: () => undefined })
  onTestFinished(() => producer.close())
  const send = () => producer.enqueue({ name: 'ok', queue: 'tests' }, {})
  await expect(send()).rejects.toMatchObject({ name: 'TryLaterError', code: 'TRY_LATER' })

  for (const id of [inHand, ...waiting])
    expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 1 })
  await expect(send()).rejects.toMatchObject({ name: 'TryLaterError', code: 'TRY_LATER' })
  await bench.redis.config('SET', 'maxmemory', '0')
  const next = await eventually(send)
  await bench.reached(next, 'succeeded')
  expect(worker.logs.length).toBeLessThan(60)
}, 60_000)

test.each([
  [
    'an unknown queue',
    { JADWAL_QUEUES: 'nowhere:3' },
    /JADWAL_QUEUES.*catalogue \(tests\).*nowhere/,
  ],
  ['a list that is none', { JADWAL_QUEUES: 'tests:many' }, /JADWAL_QUEUES must be a list/],
  ['a module that is not there', { JADWAL_JOBS: './nothing.mjs' }, /JADWAL_JOBS must be a module/],
  ['a lock that is too short', { JADWAL_LOCK_MS: '5' }, /JADWAL_LOCK_MS must be a whole number/],
])('%s is refused with one message that names the variable', async (_case, env, message) => {
  await using bench = openBench(server.url)
  const worker = bench.spawn(env)
  expect(await worker.exitCode()).toBe(78)
  expect(worker.logs.join('\n')).toMatch(message)
})
