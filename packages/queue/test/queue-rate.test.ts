import { keys, type RunEnd } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parkRun } from './park-by-hand.ts'
import { openBench } from './run-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const SUCCEEDED: RunEnd = { kind: 'succeeded' }
const NEVER_AGAIN = { max: 6, perMs: 3_600_000 }

type Bench = ReturnType<typeof openBench>

async function addMany(bench: Bench, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push(await bench.add())
  return ids
}

/** How often scripts were called so far. */
async function scriptCalls(bench: Bench): Promise<number> {
  const stats = await bench.redis.info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

test('all workers of a queue together start so many runs in a time, and ask Redis for no more meanwhile', async () => {
  await using bench = openBench(server.url)
  await addMany(bench, 30)
  for (let i = 0; i < 3; i += 1) bench.work(() => SUCCEEDED, { rate: NEVER_AGAIN })
  await eventually(() => expect(bench.ends).toHaveLength(6))
  // Each has learnt by now that the rate is used up.
  await eventually(async () => {
    const before = await scriptCalls(bench)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect((await scriptCalls(bench)) - before).toBeLessThan(10)
  })
  expect(bench.ends).toHaveLength(6)
  expect(await bench.redis.llen(keys.bullKey(bench.prefix, 'emails', 'wait'))).toBe(24)
  expect(bench.errors).toEqual([])
})

test('what a rate leaves in a time is used, also while all runs in hand go on', async () => {
  await using bench = openBench(server.url)
  await addMany(bench, 8)
  let end: (() => void) | undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  bench.work(() => ended.then(() => SUCCEEDED), { concurrency: 8, rate: { max: 2, perMs: 1_000 } })
  await eventually(() => expect(bench.calls).toHaveLength(8))
  const startedMs = bench.calls.map((call) => call.startedAtMs)
  // Three times more until the last two; a busy machine may be late with the first.
  expect(Math.max(...startedMs) - Math.min(...startedMs)).toBeGreaterThanOrEqual(2_000)
  end?.()
  await eventually(() => expect(bench.ends).toHaveLength(8))
})

test('a run that is parked uses up nothing of the rate', async () => {
  await using bench = openBench(server.url)
  const parked = await addMany(bench, 20)
  const others = await addMany(bench, 3)
  const deps = {
    redis: bench.redis,
    prefix: bench.prefix,
    queue: 'emails',
    onError: () => undefined,
  }
  bench.work(
    async (run) =>
      parked.includes(run.id) ? { kind: await parkRun(deps, run, 'fuse:email.send') } : SUCCEEDED,
    { concurrency: 2, rate: NEVER_AGAIN },
  )
  await eventually(() => expect(bench.ends.map(({ run }) => run.id)).toEqual(others))
  expect(bench.calls).toHaveLength(23)
})

test('a worker that waits for its rate closes at once', async () => {
  await using bench = openBench(server.url)
  await addMany(bench, 7)
  const worker = bench.work(() => SUCCEEDED, { rate: NEVER_AGAIN })
  await eventually(() => expect(bench.ends).toHaveLength(6))
  const beganMs = performance.now()
  await worker.close()
  expect(performance.now() - beganMs).toBeLessThan(5_000)
})
