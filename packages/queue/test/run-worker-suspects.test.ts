import { setTimeout as sleep } from 'node:timers/promises'
import type { RunEnd } from '@jadwal/queue'
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

const SUCCEEDED: RunEnd = { kind: 'succeeded', result: '{"sent":1}' }

test('suspects are made one at a time in a process, and what is parked keeps its lost attempts', async () => {
  await using bench = openBench(server.url)
  const ids = [await bench.add(), await bench.add(), await bench.add()]
  for (const id of ids) await bench.redis.hset(bench.messageKey(id), { ats: 2 })
  const othersParked = async (): Promise<void> => {
    const stored = await Promise.all(ids.map((id) => bench.redis.hget(bench.messageKey(id), 'jo')))
    expect(stored.filter((text) => text?.endsWith(':parked:2'))).toHaveLength(2)
  }
  let inHand = 0
  let most = 0
  const execute = async (): Promise<RunEnd> => {
    inHand += 1
    most = Math.max(most, inHand)
    // The first one ends when the others were put back.
    if (bench.ends.length === 0) await eventually(othersParked)
    await sleep(100)
    inHand -= 1
    return SUCCEEDED
  }
  bench.work(execute, { concurrency: 2 })
  bench.work(execute, { concurrency: 2 })
  await eventually(() => expect(bench.ends).toHaveLength(3))
  expect(most).toBe(1)
  expect(bench.ends.map(({ run }) => run.lostBefore)).toEqual([0, 2, 2])
  expect(bench.ends.map(({ end, counted }) => [end.kind, counted])).toEqual(
    ids.map(() => ['succeeded', true]),
  )
  const facts = await bench.facts()
  for (const id of ids) {
    const lost = facts.filter((fact) => fact['id'] === id && fact['kind'] === 'attempt')
    expect(lost.map((fact) => fact['attempt'])).toEqual([1, 2])
  }
  expect(bench.errors).toEqual([])
})

test('an attempt that is lost after the run was parked is its third and ends it', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  await bench.redis.hset(bench.messageKey(id), { ats: 6, jo: '5:parked:2' })
  bench.work(() => SUCCEEDED)
  await eventually(async () => expect(await bench.dead.getJob(id)).toBeDefined())
  expect(bench.calls).toEqual([])
  expect(await bench.facts()).toMatchObject([
    { kind: 'attempt', attempt: 6 },
    { state: 'dead', reason: 'lost', error: { message: expect.stringMatching(/^3 attempts/) } },
  ])
})

test('the outcome of a suspect lets the next one in, whether it counts or not', async () => {
  await using bench = openBench(server.url)
  const first = await bench.add({}, { ats: 2 })
  bench.work(async (run) => {
    if (run.id === first)
      await bench.redis.set(`${bench.messageKey(first)}:lock`, 'other', 'PX', 60_000)
    return SUCCEEDED
  })
  await eventually(() => expect(bench.ends).toMatchObject([{ counted: false }]))
  const suspect = await bench.add({}, { ats: 2 })
  await eventually(() =>
    expect(bench.ends.at(-1)).toMatchObject({ run: { id: suspect }, counted: true }),
  )
})

test('of a job that is not to be made again, a run whose worker died is dead without another call', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add({}, { ats: 1 })
  const drained = await bench.add({}, { ats: 1, jo: '1:drained' })
  bench.work(() => SUCCEEDED, { lossPolicy: 'dead-letter' })
  await eventually(async () => expect(await bench.dead.getJob(id)).toBeDefined())
  await eventually(() => expect(bench.ends).toHaveLength(2))
  expect(bench.calls.map((call) => call.id)).toEqual([drained])
  const facts = (await bench.facts()).filter((fact) => fact['id'] === id)
  expect(facts).toMatchObject([
    { kind: 'attempt', attempt: 1, attempt_state: 'lost' },
    {
      state: 'dead',
      reason: 'lost',
      attempt: 2,
      error: { message: expect.stringMatching(/onLost/) },
    },
  ])
})
