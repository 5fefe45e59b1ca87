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

test("a run that killed its worker once is a dead letter at once, where its job's onLost says so", async () => {
  await using bench = openBench(server.url)
  const id = await bench.add('kills-once')
  expect(await bench.spawn({ JADWAL_LOCK_MS: '1000' }).exitCode()).toBe(-1)
  await bench.work({ JADWAL_LOCK_MS: '1000' })
  expect(await bench.reached(id, 'dead')).toMatchObject({ reason: 'lost', attempt: 2 })
  const attempts = (await bench.facts(id)).filter((fact) => fact['kind'] === 'attempt')
  expect(attempts).toEqual([{ kind: 'attempt', id, attempt: 1, attempt_state: 'lost' }])
  await eventually(async () => expect(await bench.dead.getJob(id)).toBeDefined())
}, 60_000)
