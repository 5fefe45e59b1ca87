import { cancelRun, keys } from '@jadwal/queue'
import { LogLine, systemClock } from '@jadwal/domain'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { openBench } from './worker-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const QUEUE = 'tests'

function cancel({ redis, prefix }: ReturnType<typeof openBench>, id: string) {
  const nowIso = systemClock.now().toISOString()
  return cancelRun({ redis, prefix, nowIso }, { queue: QUEUE, id }, 'cancelled')
}

test('a running handler gets its signal aborted within a second, and its run ends', async () => {
  await using bench = openBench(server.url)
  const worker = bench.spawn()
  await worker.ready
  const id = await bench.add('tells-its-abort')
  await bench.reached(id, 'running')
  expect(await cancel(bench, id)).toMatchObject({ result: 'cancelling' })
  const answeredMs = systemClock.now().getTime()
  const fact = await bench.reached(id, 'cancelled')
  expect(fact).toMatchObject({ reason: 'cancelled', attempt: 1, attempt_state: 'cancelled' })
  const [line] = z.array(LogLine).length(1).parse(fact['log'])
  // More than the second that is promised, as the machine may be busy.
  expect(Date.parse(line?.at ?? '') - answeredMs).toBeLessThan(5_000)
  expect(fact['error']).toBeUndefined()
  await eventually(async () => expect(await bench.queue.getJob(id)).toBeUndefined())
})

test('a handler that ignores its signal is abandoned, and what it returns later counts for nothing', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('slow', { ms: 15_000 })
  await bench.reached(id, 'running')
  await cancel(bench, id)
  const fact = await bench.reached(id, 'cancelled')
  expect(fact).toMatchObject({
    reason: 'cancelled',
    attempt_state: 'cancelled',
    error: { name: 'AbandonedError' },
  })
  // The handler ends meanwhile: it had at most ten seconds left.
  await bench.reached(await bench.add('slow', { ms: 10_500 }), 'succeeded')
  expect((await bench.facts(id)).at(-1)).toEqual(fact)
  expect(await bench.queue.getJob(id)).toBeUndefined()
})

test('a message alone aborts the signal, without a look at what is marked', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('tells-its-abort')
  await bench.reached(id, 'running')
  const channel = keys.cancelChannel(bench.prefix, QUEUE)
  // Until the worker listens.
  await eventually(async () =>
    expect(await bench.redis.publish(channel, `${id} superseded`)).toBe(1),
  )
  expect(await bench.reached(id, 'cancelled')).toMatchObject({
    reason: 'superseded',
    log: [{ message: 'aborted' }],
  })
  expect(await bench.redis.exists(keys.cancelsKey(bench.prefix, QUEUE))).toBe(0)
})

test('a cancel whose message was missed is found by looking', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('drained', { ms: 60_000 })
  await bench.reached(id, 'running')
  await bench.redis.hset(keys.cancelsKey(bench.prefix, QUEUE), id, 'superseded')
  expect(await bench.reached(id, 'cancelled')).toMatchObject({ reason: 'superseded' })
})

test('a run that was cancelled while it waited is never begun', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add('ok')
  expect(await cancel(bench, id)).toMatchObject({ result: 'cancelled' })
  await bench.work()
  await bench.reached(await bench.add('ok'), 'succeeded')
  expect(await bench.facts(id)).toMatchObject([{ state: 'cancelled', attempt: 0 }])
})

test('a run that waits for its retry ends at once, and its handler is not called again', async () => {
  await using bench = openBench(server.url)
  await bench.work()
  const id = await bench.add('much-later')
  await bench.reached(id, 'retrying')
  expect(await cancel(bench, id)).toMatchObject({ result: 'cancelled' })
  expect(await bench.reached(id, 'cancelled')).toMatchObject({ attempt: 1, reason: 'cancelled' })
  expect(await bench.queue.getJob(id)).toBeUndefined()
})

test('runs that are cancelled in the moment they are taken end once each, one way or the other', async () => {
  await using bench = openBench(server.url)
  await bench.work({ JADWAL_QUEUES: 'tests:20' })
  const ids: string[] = []
  for (let round = 0; round < 20; round += 1) {
    const added = await Promise.all(Array.from({ length: 10 }, () => bench.add('ok')))
    await Promise.all(added.map((id) => cancel(bench, id)))
    ids.push(...added)
  }
  await eventually(
    async () => {
      const ends = (await bench.facts())
        .filter((fact) => ['succeeded', 'cancelled'].includes(String(fact['state'])))
        .map((fact) => String(fact['id']))
      expect(ends.toSorted()).toEqual(ids.toSorted())
      expect(await bench.queue.getJobCounts()).toMatchObject({ active: 0, waiting: 0, delayed: 0 })
    },
    { timeoutMs: 50_000, everyMs: 500 },
  )
}, 60_000)
