import { cancelRun, findRunInRedis, keys, type RunEnd } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parkRun, releaseParked } from './park-by-hand.ts'
import { openBench } from './run-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const LOT = 'fuse:email.send'
const QUEUE = 'emails'
const SUCCEEDED: RunEnd = { kind: 'succeeded' }

function setup() {
  const bench = openBench(server.url)
  const { prefix, redis } = bench
  const deps = { redis, prefix, queue: QUEUE, onError: () => undefined }
  let isOpen = true
  return {
    ...bench,
    deps,
    close: () => void (isOpen = false),
    workAs: (...how: Parameters<typeof bench.work>) => bench.work(...how),
    /** A worker that parks every run for as long as the lot is open. */
    work: (end: RunEnd = SUCCEEDED, options: { concurrency?: number; lockMs?: number } = {}) =>
      bench.work(async (run) => {
        if (!isOpen) return end
        return { kind: await parkRun(deps, run, LOT) }
      }, options),
    release: (count = Infinity) =>
      releaseParked(redis, { prefix, queue: QUEUE }, { lot: LOT, count }),
    parkedIds: () => redis.lrange(keys.parkedKey(prefix, QUEUE, LOT), 0, -1),
    async add(count: number): Promise<string[]> {
      const ids: string[] = []
      while (ids.length < count) ids.push(await bench.add())
      return ids
    },
    /** Whatever is left of lots. */
    leftOvers: async () => {
      const all = await redis.keys(`{${prefix}:*`)
      return all.filter((key) => /:(parked:.*|slots:.*|lots)$/.test(key))
    },
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]()
    },
  }
}

test('a parked run waits as if it had never been started, and is made when it is released', async () => {
  await using bench = setup()
  const [id = ''] = await bench.add(1)
  bench.work()
  await eventually(async () => expect(await bench.parkedIds()).toEqual([id]))
  expect(await bench.redis.hgetall(keys.lotsKey(bench.prefix, QUEUE))).toEqual({ [LOT]: '' })
  const message = await bench.queue.getJob(id)
  expect(await message?.getState()).toBe('delayed')
  expect(message).toMatchObject({ attemptsStarted: 0, attemptsMade: 0 })
  expect(await findRunInRedis(bench.redis, bench.prefix, { queues: [QUEUE], id })).toMatchObject({
    state: 'queued',
    attempt: 0,
  })
  expect(await bench.redis.exists(`${bench.messageKey(id)}:lock`)).toBe(0)

  bench.close()
  expect(await bench.release()).toBe(1)
  await eventually(() => expect(bench.ends).toMatchObject([{ counted: true }]))
  expect(bench.calls.map((call) => call.attempt)).toEqual([1, 1])
  expect(await bench.facts()).toMatchObject([{ id, state: 'succeeded', attempt: 1, revision: 13 }])
  expect(await bench.leftOvers()).toEqual([])
  expect(bench.errors).toEqual([])
})

test('released runs come before all that wait, the first parked first, each priority for itself', async () => {
  await using bench = setup()
  const parked = await bench.add(3)
  const urgent = await bench.queue.getJob(parked[1] ?? '')
  const first = bench.work(SUCCEEDED, { concurrency: 1 })
  await eventually(async () => expect(await bench.parkedIds()).toHaveLength(3))
  await first.close()
  await urgent?.changePriority({ priority: 7 })
  await bench.redis.hset(bench.messageKey(parked[1] ?? ''), 'priority', '7')
  const later = await bench.add(2)
  bench.close()
  expect(await bench.release(2)).toBe(2)
  expect(await bench.release(1)).toBe(1)
  expect(await bench.release(1)).toBe(0)
  const waiting = await bench.redis.lrange(keys.bullKey(bench.prefix, QUEUE, 'wait'), 0, -1)
  // BullMQ takes from the right.
  expect(waiting.toReversed()).toEqual([parked[2], parked[0], ...later])
  expect(
    await bench.redis.zrange(keys.bullKey(bench.prefix, QUEUE, 'prioritized'), 0, -1, 'WITHSCORES'),
  ).toEqual([parked[1], String(7 * 2 ** 32)])
  bench.work()
  await eventually(() => expect(bench.ends).toHaveLength(5))
})

test('a release wakes a worker that waits for work', async () => {
  await using bench = setup()
  await bench.add(1)
  bench.work()
  await eventually(async () => expect(await bench.parkedIds()).toHaveLength(1))
  // Its blocking read has begun when the marker is gone.
  await eventually(async () =>
    expect(await bench.redis.exists(keys.bullKey(bench.prefix, QUEUE, 'marker'))).toBe(0),
  )
  bench.close()
  const releasedAtMs = performance.now()
  await bench.release()
  await eventually(() => expect(bench.ends).toHaveLength(1))
  expect(performance.now() - releasedAtMs).toBeLessThan(4_000)
})

test('a parked run is cancelled at once and is passed over when its turn comes', async () => {
  await using bench = setup()
  const [first = '', second = ''] = await bench.add(2)
  bench.work()
  await eventually(async () => expect(await bench.parkedIds()).toHaveLength(2))
  const deps = { ...bench.deps, nowIso: '2026-09-01T10:00:00.000Z' }
  expect(await cancelRun(deps, { queue: QUEUE, id: first }, 'cancelled')).toMatchObject({
    result: 'cancelled',
  })
  expect(await bench.facts()).toMatchObject([{ id: first, state: 'cancelled', revision: 3 }])
  bench.close()
  expect(await bench.release(1)).toBe(1)
  await eventually(() => expect(bench.ends).toMatchObject([{ run: { id: second } }]))
  expect(await bench.leftOvers()).toEqual([])
})

test('a run that another worker has by now is not parked', async () => {
  await using bench = setup()
  const [id = ''] = await bench.add(1)
  bench.work()
  await eventually(async () => expect(await bench.parkedIds()).toHaveLength(1))
  await bench.release()
  await eventually(async () => expect(await bench.parkedIds()).toHaveLength(1))
  expect(await parkRun(bench.deps, { id, token: 'of another' }, 'fuse:other')).toBe('lost')
  expect(await parkRun(bench.deps, { id, token: 'sent again' }, LOT)).toBe('in-lot')
  expect(await bench.parkedIds()).toEqual([id])
})

test('a rescued run keeps the attempts that were lost while it lies parked', async () => {
  await using bench = setup()
  const id = await addRescued(bench)
  bench.work()
  await eventually(async () => expect(await bench.parkedIds()).toEqual([id]))
  expect(await bench.redis.hget(bench.messageKey(id), 'ats')).toBe('1')
  bench.close()
  await bench.release()
  await eventually(async () => expect(await bench.facts()).toHaveLength(2))
  expect(await bench.facts()).toMatchObject([
    { kind: 'attempt', attempt: 1, attempt_state: 'lost' },
    { kind: 'run', attempt: 2, state: 'succeeded' },
  ])
})

test('the lock of a run is renewed that comes back to the worker that only just parked it', async () => {
  await using bench = setup()
  const ids = await bench.add(20)
  const lockMs = 5_000
  const { redis, deps } = bench
  let parkings = 0
  let running = 0
  const worker = bench.workAs(
    async (run) => {
      // Each is parked and released many times, so that one comes back while BullMQ lets go of it.
      if (parkings < 500) {
        parkings += 1
        const parked = parkRun(deps, run, LOT)
        const released = bench.release(20)
        await released
        return { kind: await parked }
      }
      running += 1
      await eventually(() => expect(running).toBe(ids.length), { timeoutMs: 30_000 })
      // Held on to for so long, a run that was parked and taken again looks as if it were lost.
      bench.lost.length = 0
      await new Promise((resolve) => setTimeout(resolve, 2 * lockMs))
      return SUCCEEDED
    },
    { lockMs, concurrency: 30 },
  )
  const releasing = setInterval(() => void bench.release(20), 20)
  await eventually(() => expect(bench.ends).toHaveLength(ids.length), { timeoutMs: 50_000 })
  clearInterval(releasing)
  expect(bench.lost).toEqual([])
  expect(bench.ends.every((end) => end.counted)).toBe(true)
  await worker.close()
  expect(await redis.llen(keys.bullKey(bench.prefix, QUEUE, 'active'))).toBe(0)
}, 60_000)

/** A run whose first attempt was lost. */
async function addRescued(bench: ReturnType<typeof setup>): Promise<string> {
  await bench.queue.pause()
  const [id = ''] = await bench.add(1)
  await bench.redis.hset(bench.messageKey(id), { ats: 1 })
  await bench.queue.resume()
  return id
}
