import { fileURLToPath } from 'node:url'
import { type JobDescription, LogLine } from '@jadwal/domain'
import { keys, publishCatalogue } from '@jadwal/queue'
import { createClient } from '@jadwal/sdk'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openBench } from './worker-bench.ts'

const CONTEXT_JOBS = fileURLToPath(new URL('fixtures/context-jobs.mjs', import.meta.url))
const env = { JADWAL_JOBS: CONTEXT_JOBS }
/** A job that only others know the code of. */
const DISTANT: JobDescription = {
  name: 'distant',
  queue: 'elsewhere',
  attempts: 2,
  backoff: { type: 'fixed', delayMs: 50, jitter: 0 },
  timeoutMs: 60_000,
  payloadSchema: { type: 'object', required: ['to'], properties: { to: { type: 'string' } } },
}
type Fact = Record<string, unknown>

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

function linesOf(fact: Fact | undefined) {
  return z.array(LogLine).parse(fact?.['log'] ?? [])
}

test('what a handler logs goes to the log of its worker, and is kept with each attempt', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn({ ...env, JADWAL_SECRET_KEY: 'hunter22' })
  await worker.ready
  const id = await bench.add('talks', { key: { secret: 'KEY' } })
  await bench.reached(id, 'succeeded')
  const facts = await bench.facts(id)
  expect(facts.map((fact) => [fact['attempt'], linesOf(fact).length])).toEqual([
    [1, 4],
    [2, 4],
  ])
  expect(linesOf(facts[0])).toMatchObject([
    { level: 'info', message: 'begun', facts: { step: 1, key: '***' } },
    { level: 'debug', message: 'the key is ***' },
    { level: 'warn', message: 'look', facts: { big: '12', self: expect.anything() } },
    { level: 'warn', message: 'look again', facts: { x: expect.any(String) } },
  ])
  await worker.waitForLog('the key is ***')
  await worker.waitForLog('look again')
  expect(JSON.stringify([facts, worker.logs])).not.toContain('hunter')
})

test('a handler that says nothing has no lines, one that says much has its last ones', async () => {
  await using bench = openBench(server.url)
  await bench.work(env)
  const quiet = await bench.reached(await bench.add('quiet'), 'succeeded')
  expect(quiet).not.toHaveProperty('log')
  const loud = await bench.reached(await bench.add('chatters', { lines: 500 }), 'succeeded')
  const lines = linesOf(loud)
  expect(lines.at(0)?.message).toMatch(/^4\d\d earlier lines were dropped$/)
  expect(lines.at(-1)?.message).toBe('line 500')
})

test('lines are kept of attempts that took too long, were cancelled or cut short', async () => {
  await using bench = openBench(server.url)
  const worker = await bench.work({ ...env, JADWAL_GRACE_MS: '0' })
  const late = await bench.add('waits', {}, { timeoutMs: 50 })
  const dead = await bench.reached(late, 'dead')
  expect(dead).toMatchObject({ error: { name: 'TimeoutError' }, log: [{ message: 'waiting' }] })
  const marked = await bench.add('waits')
  const drained = await bench.add('waits')
  await eventually(async () => expect(await bench.queue.getActiveCount()).toBe(2))
  await bench.redis.hset(keys.cancelsKey(bench.prefix, 'tests'), marked, 'cancelled')
  const cancelled = await bench.reached(marked, 'cancelled')
  expect(cancelled).toMatchObject({ log: [{ message: 'waiting' }] })
  await worker.close()
  const back = await bench.reached(drained, 'queued')
  expect(back).toMatchObject({ reason: 'drained', log: [{ message: 'waiting' }] })
})

test('a handler enqueues children, and another attempt of it enqueues the same ones', async () => {
  await using bench = openBench(server.url)
  await bench.work(env)
  const id = await bench.add('parent', { key: 'mine' })
  const { result } = await bench.reached(id, 'succeeded')
  const ids = z.array(z.uuid()).length(5).parse(result)
  expect(new Set(ids).size).toBe(5)
  const children = await Promise.all(
    ids.slice(0, 4).map((each) => bench.reached(each, 'succeeded')),
  )
  expect(children.map((fact) => [fact['job'], fact['parent_id'], fact['result']])).toEqual(
    [1, 1, 2, 7].map((n) => ['child', id, { n }]),
  )
  expect(children.map((fact) => fact['priority'])).toEqual([0, 3, 3, 0])
  expect(children[3]).toMatchObject({ idempotency_key: 'mine' })
  const far = keys.bullKey(bench.prefix, 'elsewhere', ids[4] ?? '')
  expect(JSON.parse((await bench.redis.hget(far, 'data')) ?? '')).toMatchObject({ parentId: id })
  const all = await bench.redis.llen(keys.bullKey(bench.prefix, 'elsewhere', 'wait'))
  expect(all).toBe(1)
})

test('a child by name alone goes by what workers have published of it', async () => {
  await using bench = openBench(server.url)
  await bench.work(env)
  await publishCatalogue(bench.redis, bench.prefix, [DISTANT])
  const right = await bench.add('wrong-child', { name: 'distant', child: { to: 'ops' } })
  const wrong = await bench.add('wrong-child', { name: 'distant', child: { to: 7 } })
  const own = await bench.add('wrong-child', { name: 'child', child: { n: 'one' } })
  const nobody = await bench.add('wrong-child', { name: 'nobody-has-it', child: {} })
  const { result } = await bench.reached(right, 'succeeded')
  expect(await bench.redis.exists(keys.bullKey(bench.prefix, 'elsewhere', String(result)))).toBe(1)
  const said = async (id: string) => JSON.stringify((await bench.reached(id, 'dead'))['error'])
  expect(await said(wrong)).toMatch(
    /InvalidRunError.*payload of distant: payload.to must be string/,
  )
  expect(await said(own)).toMatch(/InvalidRunError.*payload of child: n/)
  expect(await said(nobody)).toMatch(/nobody-has-it.*no worker has published it/)
})

test('a child whose payload is larger than the worker allows is refused, and says by how much', async () => {
  await using bench = openBench(server.url)
  await bench.work({ ...env, JADWAL_MAX_PAYLOAD_BYTES: '2048' })
  await publishCatalogue(bench.redis, bench.prefix, [DISTANT])
  const withText = (length: number) =>
    bench.add('wrong-child', { name: 'distant', child: { to: 'x'.repeat(length) } })
  // {"to":""} are nine bytes.
  const fits = await withText(2_039)
  const tooLarge = await withText(2_040)
  const { result } = await bench.reached(fits, 'succeeded')
  expect(await bench.redis.exists(keys.bullKey(bench.prefix, 'elsewhere', String(result)))).toBe(1)
  expect(await bench.reached(tooLarge, 'dead')).toMatchObject({
    error: { name: 'PayloadTooLargeError', message: expect.stringContaining('2048') },
  })
  expect(await bench.redis.llen(keys.bullKey(bench.prefix, 'elsewhere', 'wait'))).toBe(1)
})

test('progress and result that are too large are replaced by a note, and the run has succeeded', async () => {
  await using bench = openBench(server.url)
  await bench.work(env)
  const fact = await bench.reached(await bench.add('progresses', { length: 200_000 }), 'succeeded')
  expect(fact).toMatchObject({ result: { truncated: true, bytes: 200_002 } })
})

test('how far a handler is, is shown until its run has ended, without secrets', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn({ ...env, JADWAL_SECRET_KEY: 'hunter22' })
  await worker.ready
  const client = createClient({ redisUrl: server.url, prefix: bench.prefix })
  onTestFinished(() => client.close())
  const id = await bench.add('shows-progress', { key: { secret: 'KEY' } })
  const progress = { done: 3, of: 7, with: '***' }
  await eventually(
    async () =>
      expect(await client.run(id).read()).toMatchObject({ id, state: 'running', progress }),
    { timeoutMs: 30_000 },
  )
  await bench.redis.hset(keys.cancelsKey(bench.prefix, 'tests'), id, 'cancelled')
  expect(await bench.reached(id, 'cancelled')).not.toHaveProperty('progress')
  expect(await client.run(id).read()).not.toHaveProperty('progress')
})
