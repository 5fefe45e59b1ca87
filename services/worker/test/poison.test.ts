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

test('a run that kills its workers takes none of the runs beside it along', async () => {
  await using bench = openBench(server.url)
  const env = { JADWAL_LOCK_MS: '3000', JADWAL_QUEUES: 'tests:20' }
  const first = bench.spawn(env)
  await first.ready
  const innocents = await Promise.all(
    Array.from({ length: 10 }, () => bench.add('slow', { ms: 2_500 })),
  )
  await eventually(async () => expect(await bench.queue.getActiveCount()).toBe(10))
  const poison = await bench.add('kills')
  expect(await first.exitCode()).toBe(-1)
  const isOver = async (id: string): Promise<boolean> =>
    ['succeeded', 'dead'].includes(String((await bench.facts(id)).at(-1)?.['state']))
  let worker = bench.spawn(env)
  await eventually(
    async () => {
      if (worker.child.signalCode !== null) worker = bench.spawn(env)
      expect(await Promise.all([poison, ...innocents].map(isOver))).not.toContain(false)
    },
    { timeoutMs: 80_000 },
  )
  expect((await bench.facts(poison)).at(-1)).toMatchObject({ state: 'dead', reason: 'lost' })
  for (const id of innocents) {
    expect((await bench.facts(id)).at(-1)).toMatchObject({ state: 'succeeded' })
  }
  expect(await bench.dead.getJobCounts()).toMatchObject({ waiting: 1 })
  const lost = (await bench.facts(poison)).filter((fact) => fact['kind'] === 'attempt')
  expect(new Set(lost.map((fact) => fact['attempt'])).size).toBe(3)
}, 120_000)
