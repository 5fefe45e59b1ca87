import { keys, pauseQueue, readQueuePause, resumeQueue, workWaits } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openBench } from './run-bench.ts'

const QUEUE = 'emails'
const PAUSE = { by: 'ana', at: '2026-09-01T10:00:00.000Z', reason: 'the mail server moves' }
const OPEN = { paused: false, pause: null }

function setup() {
  const bench = openBench(inject('redisUrl'))
  onTestFinished(() => bench[Symbol.asyncDispose]())
  const { redis, prefix } = bench
  return {
    ...bench,
    pause: (more: object = {}) => pauseQueue(redis, prefix, { queue: QUEUE, ...PAUSE, ...more }),
    resume: () => resumeQueue(redis, prefix, QUEUE),
    state: () => readQueuePause(redis, prefix, QUEUE),
    waits: () => workWaits(redis, prefix, { queue: QUEUE, nowMs: Number.MAX_SAFE_INTEGER / 8_192 }),
  }
}

test('a paused queue gives its runs to no worker until it is resumed', async () => {
  const bench = setup()
  const { calls, redis, prefix, pause, resume, waits } = bench
  const marker = keys.bullKey(prefix, QUEUE, 'marker')
  bench.work(() => ({ kind: 'succeeded' }))
  const first = await bench.add()
  await eventually(() => expect(calls.map(({ id }) => id)).toEqual([first]))
  expect(await pause()).toMatchObject({ before: OPEN, after: { paused: true } })
  const ids = [await bench.add(), await bench.add()]
  expect(await waits()).toBe(false)
  // It has been woken, and has asked for a run, when the marker is gone and it is woken once more.
  for (let wake = 0; wake < 2; wake += 1) {
    await redis.zadd(marker, 0, '0')
    await eventually(async () => expect(await redis.exists(marker)).toBe(0))
  }
  expect(calls).toHaveLength(1)

  expect(await resume()).toMatchObject({ before: { paused: true }, after: OPEN })
  await eventually(() => expect(calls.map(({ id }) => id)).toEqual([first, ...ids]))
})

test('a delayed run that comes due while its queue is paused is made when that is resumed', async () => {
  const bench = setup()
  const { queue, calls, redis, prefix, pause, resume } = bench
  await pause()
  await queue.add('email.send', { v: 1, payload: {} }, { jobId: 'later', delay: 1 })
  bench.work(() => ({ kind: 'succeeded' }))
  await eventually(async () => {
    const score = await redis.zscore(keys.bullKey(prefix, QUEUE, 'delayed'), 'later')
    const [seconds] = await redis.time()
    expect(Number(score) / 4_096).toBeLessThan(Number(seconds) * 1_000 + 1_000)
  })
  await resume()
  await eventually(() => expect(calls.map(({ id }) => id)).toEqual(['later']))
})

test('the first pause stands, and says by whom and why', async () => {
  const bench = setup()
  const { pause, resume, state, queue } = bench
  const paused = { paused: true, pause: PAUSE }
  expect(await state()).toEqual(OPEN)
  expect(await pause()).toEqual({ before: OPEN, after: paused })
  expect(await pause({ by: 'bo', reason: undefined })).toEqual({ before: paused, after: paused })
  expect(await state()).toEqual(paused)
  expect(await resume()).toEqual({ before: paused, after: OPEN })
  expect(await resume()).toEqual({ before: OPEN, after: OPEN })
  expect(await state()).toEqual(OPEN)
  await queue.pause()
  expect(await state()).toEqual({ paused: true, pause: null })
  await resume()
  await pause({ reason: undefined })
  expect((await state()).pause).toEqual({ by: PAUSE.by, at: PAUSE.at })
})
