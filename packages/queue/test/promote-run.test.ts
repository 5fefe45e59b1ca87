import { revision, systemClock } from '@jadwal/domain'
import { findRunInRedis, keys, promoteRun, runMessageOptions } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openBench } from './run-bench.ts'

const QUEUE = 'emails'
const HOUR = 3_600_000

function setup() {
  const bench = openBench(inject('redisUrl'))
  onTestFinished(() => bench[Symbol.asyncDispose]())
  const { redis, prefix, queue } = bench
  let added = 0
  return {
    ...bench,
    addDelayed: async (): Promise<string> => {
      const enqueuedAtMs = systemClock.now().getTime() - HOUR
      added += 1
      const id = `018f5b1e-0000-7000-8000-00000000000${added}`
      const opts = runMessageOptions({ enqueuedAtMs, delayMs: 5 * HOUR })
      await queue.add('email.send', { v: 1, payload: { to: 'a' } }, { ...opts, jobId: id })
      return id
    },
    promote: (id: string) =>
      promoteRun(redis, prefix, { queue: QUEUE, id, nowMs: systemClock.now().getTime() }),
  }
}

test('a delayed run that is put forward is made at once, and everything says so', async () => {
  const bench = setup()
  const { addDelayed, promote, ends, redis, prefix } = bench
  const id = await addDelayed()
  const before = systemClock.now().getTime()
  const due = await promote(id)
  expect(due).toEqual({ before: expect.any(Date), after: expect.any(Date) })
  const [fact] = await bench.facts()
  expect(fact).toMatchObject({ id, state: 'queued', attempt: 0 })
  expect(fact?.['revision']).toBeGreaterThan(revision(0, 'queued'))
  expect(fact?.['revision']).toBeLessThan(revision(0, 'cancelled'))
  const runAtMs = Date.parse(String(fact?.['run_at']))
  expect(runAtMs).toBeGreaterThanOrEqual(before)
  expect(runAtMs).toBeLessThanOrEqual(systemClock.now().getTime())
  expect(await promote(id)).toBe('not-delayed')

  bench.work(() => ({ kind: 'succeeded' }))
  await eventually(() => expect(ends).toHaveLength(1))
  expect(ends[0]?.run.runAtMs).toBe(runAtMs)
  await eventually(async () => expect(await bench.facts()).toHaveLength(2))
  expect((await bench.facts())[1]).toMatchObject({ state: 'succeeded', run_at: fact?.['run_at'] })
  expect(await findRunInRedis(redis, prefix, { queues: [QUEUE], id })).toMatchObject({
    state: 'succeeded',
  })
})

test('a run that waits for a retry is put forward with its attempts as they were', async () => {
  const bench = setup()
  const { addDelayed, promote, redis, prefix } = bench
  const id = await addDelayed()
  await redis.hset(keys.bullKey(prefix, QUEUE, id), {
    atm: 1,
    ats: 1,
    jo: '1:retry:1:9999999999999',
  })
  const opts = await redis.hget(keys.bullKey(prefix, QUEUE, id), 'opts')
  expect(await promote(id)).toMatchObject({ after: expect.any(Date) })
  expect(await redis.hget(keys.bullKey(prefix, QUEUE, id), 'opts')).toBe(opts)
  expect(await bench.facts()).toEqual([])
})

test('what does not wait for its time stays where it is', async () => {
  const bench = setup()
  const { addDelayed, promote, redis, prefix } = bench
  const held = await addDelayed()
  await redis.zadd(keys.bullKey(prefix, QUEUE, 'delayed'), 2 ** 53 - 1, held)
  expect(await promote(held)).toBe('held')
  expect(await promote(await bench.add())).toBe('not-delayed')
  expect(await promote('018f5b1e-0000-7000-8000-0000000000ff')).toBe('not-delayed')
  expect(
    await redis.exists(keys.bullKey(prefix, QUEUE, '018f5b1e-0000-7000-8000-0000000000ff')),
  ).toBe(0)
})
