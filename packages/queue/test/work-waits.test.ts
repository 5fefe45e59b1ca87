import { keys, runMessageOptions, workWaits } from '@jadwal/queue'
import { HOUR, type QueueRate, systemClock } from '@jadwal/domain'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from './run-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const QUEUE = 'emails'
const RATE = { max: 3, perMs: HOUR }

function setup() {
  const bench = openBench(server.url)
  const nowMs = systemClock.now().getTime()
  return {
    bench,
    nowMs,
    waits: (rate?: QueueRate) =>
      workWaits(bench.redis, bench.prefix, { queue: QUEUE, rate, nowMs }),
  }
}

test('work waits where a run could be taken, whatever its priority', async () => {
  const { bench, nowMs, waits } = setup()
  await using _bench = bench
  expect(await waits()).toBe(false)
  await bench.add()
  expect(await waits()).toBe(true)
  await bench.queue.drain()
  await bench.queue.add('job', {}, runMessageOptions({ enqueuedAtMs: nowMs, priority: 5 }))
  expect(await waits()).toBe(true)
})

test('a delayed run waits for its time, and for a worker only after it', async () => {
  const { bench, nowMs, waits } = setup()
  await using _bench = bench
  await bench.queue.add('job', {}, runMessageOptions({ enqueuedAtMs: nowMs, delayMs: 60_000 }))
  expect(await waits()).toBe(false)
  const past = runMessageOptions({ enqueuedAtMs: nowMs - 60_000, delayMs: 1 })
  await bench.queue.add('job', {}, past)
  expect(await waits()).toBe(true)
})

test('nothing waits in a queue that is paused, at its rate, or has all that may be in hand', async () => {
  const { bench, waits } = setup()
  await using _bench = bench
  await bench.add()
  await bench.queue.pause()
  expect(await waits()).toBe(false)
  await bench.queue.resume()
  await bench.queue.rateLimit(60_000)
  expect(await waits(RATE)).toBe(false)
  await bench.queue.removeRateLimitKey()
  await bench.queue.setGlobalConcurrency(1)
  await bench.redis.lpush(keys.bullKey(bench.prefix, QUEUE, 'active'), 'another')
  expect(await waits()).toBe(false)
  await bench.redis.del(keys.bullKey(bench.prefix, QUEUE, 'active'))
  expect(await waits()).toBe(true)
})

test('a queue is at its rate only once all starts of the window are used up, however long that is', async () => {
  const { bench, waits } = setup()
  await using _bench = bench
  const worker = bench.work(() => ({ kind: 'succeeded' }), { rate: RATE })
  await bench.add()
  await eventually(() => expect(bench.ends).toHaveLength(1))
  await worker.close()
  await bench.add()
  expect(await waits(RATE)).toBe(true)
  expect(await waits()).toBe(true)
  bench.work(() => ({ kind: 'succeeded' }), { rate: RATE })
  for (let i = 0; i < 2; i += 1) await bench.add()
  await eventually(() => expect(bench.ends).toHaveLength(RATE.max))
  expect(await bench.queue.getWaitingCount()).toBe(1)
  expect(await waits(RATE)).toBe(false)
})
