import { setTimeout as sleep } from 'node:timers/promises'
import { keys, registerQueues } from '@jadwal/queue'
import { eventually, startTestRedis } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { openBench } from './worker-bench.ts'

test('while Redis is nearly full of facts no runs are taken, until there is room', async () => {
  await using own = await startTestRedis()
  await using bench = openBench(own.url)
  const worker = await bench.work()
  const readyz = async () => (await fetch(`http://127.0.0.1:${worker.port}/readyz`)).status
  await registerQueues(bench.redis, bench.prefix, ['elsewhere'])
  await bench.fillOutbox('elsewhere')
  await eventually(async () => {
    await bench.setMemoryUse(0.85)
    expect(await readyz()).toBe(503)
  })

  // One that was being fetched still comes.
  await bench.add('ok')
  const id = await bench.add('ok')
  await sleep(500)
  expect(await bench.facts(id)).toEqual([])
  await bench.redis.config('SET', 'maxmemory', 0)
  await bench.reached(id, 'succeeded')
  await eventually(async () => expect(await readyz()).toBe(200))
})

test('a Redis that stays nearly full does not hold runs back once the outboxes are empty', async () => {
  await using own = await startTestRedis()
  await using bench = openBench(own.url)
  const worker = await bench.work()
  const readyz = async () => (await fetch(`http://127.0.0.1:${worker.port}/readyz`)).status
  await bench.redis.set('filler', 'x'.repeat(8_000_000))
  await bench.fillOutbox('tests')
  await eventually(async () => {
    await bench.setMemoryUse(0.85)
    expect(await readyz()).toBe(503)
  })

  await bench.add('ok')
  const id = await bench.add('ok')
  await bench.emptyOutbox('tests', 0.85)
  await bench.reached(id, 'succeeded')
  await eventually(async () => expect(await readyz()).toBe(200))
})

test('what else fills Redis does not hold runs back, however many short facts wait', async () => {
  await using own = await startTestRedis()
  await using bench = openBench(own.url)
  const worker = await bench.work()
  const readyz = async () => (await fetch(`http://127.0.0.1:${worker.port}/readyz`)).status
  const pipeline = bench.redis.pipeline()
  for (let i = 0; i < 2_000; i += 1)
    pipeline.xadd(keys.outboxKey(bench.prefix, 'tests'), '*', 'facts', '{}')
  await pipeline.exec()
  await bench.redis.set('filler', 'x'.repeat(8_000_000))
  for (let i = 0; i < 3; i += 1) {
    await bench.setMemoryUse(0.85)
    await sleep(1_200)
    expect(await readyz()).toBe(200)
    await bench.reached(await bench.add('ok'), 'succeeded')
  }
})
