import { RunFact, systemClock } from '@jadwal/domain'
import { DeadLetter, keys, type RunEnd } from '@jadwal/queue'
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
const FAILED = { name: 'Error', message: 'no route', stack: 'Error: no route\n    at here' }

test('a run that succeeded leaves one complete fact and no message', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add({ labels: { team: 'billing' } })
  bench.work(() => SUCCEEDED)

  const [fact] = await eventually(async () => {
    const facts = await bench.facts()
    expect(facts).toHaveLength(1)
    return facts
  })
  expect(RunFact.parse(fact)).toMatchObject({
    id,
    revision: 13,
    state: 'succeeded',
    job: 'email.send',
    queue: 'emails',
    payload: { to: 'a@b.c' },
    result: { sent: 1 },
    labels: { team: 'billing' },
    attempt: 1,
    worker: 'worker-1',
    attempt_state: 'succeeded',
  })
  await eventually(async () => expect(await bench.queue.getJob(id)).toBeUndefined())
  expect(bench.errors).toEqual([])
})

test('outcomes of many runs that end together share entries of the outbox', async () => {
  await using bench = openBench(server.url)
  for (let i = 0; i < 60; i += 1) await bench.add()
  bench.work(() => SUCCEEDED, { concurrency: 30 })
  await eventually(async () => expect(await bench.facts()).toHaveLength(60))
  const entries = await bench.redis.xlen(`{${bench.prefix}:emails}:outbox`)
  expect(entries).toBeLessThan(60)
})

test('a failed attempt waits out its delay and is tried again, and its error is there to see', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  bench.work((run) =>
    run.attempt === 1 ? { kind: 'retry', error: FAILED, delayMs: 3_000 } : SUCCEEDED,
  )
  await eventually(async () => {
    const message = await bench.queue.getJob(id)
    expect(await message?.getState()).toBe('delayed')
    expect(message).toMatchObject({ failedReason: 'Error: no route', attemptsMade: 1 })
  })
  await eventually(() => expect(bench.ends).toHaveLength(2))
  const facts = await bench.facts()
  expect(facts).toMatchObject([
    { state: 'retrying', revision: 12, attempt_state: 'failed', error: FAILED },
    { state: 'succeeded', revision: 23, attempt: 2 },
  ])
  const waitedMs = (bench.calls[1]?.startedAtMs ?? 0) - (bench.ends[0]?.run.endedAtMs ?? 0)
  expect(waitedMs).toBeGreaterThanOrEqual(2_999)
})

test('a dead run is a message that BullMQ can read in the dead-letter queue, once', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  bench.work(() => ({ kind: 'dead', reason: 'permanent', error: FAILED }))
  const [letter] = await eventually(async () => {
    const letters = await bench.dead.getJobs(['waiting'])
    expect(letters).toHaveLength(1)
    return letters
  })
  expect(letter).toMatchObject({ id, name: 'email.send', failedReason: 'permanent: no route' })
  expect(letter?.stacktrace).toEqual([FAILED.stack])
  expect(DeadLetter.parse(letter?.data)).toMatchObject({
    payload: { to: 'a@b.c' },
    death: { reason: 'permanent', error: FAILED, attempt: 1 },
  })
  expect(await bench.facts()).toMatchObject([{ state: 'dead', reason: 'permanent', revision: 13 }])
  await eventually(async () => expect(await bench.queue.getJob(id)).toBeUndefined())
})

test('an end whose fact could not be written is not stored, and the next worker does the run again', async () => {
  await using bench = openBench(server.url)
  const outbox = keys.outboxKey(bench.prefix, 'emails')
  await bench.redis.set(outbox, 'not a stream')
  const id = await bench.add()
  bench.work(
    (run) => (run.attempt === 1 ? { kind: 'dead', reason: 'permanent', error: FAILED } : SUCCEEDED),
    { lockMs: 1_000 },
  )
  await eventually(() => expect(bench.ends).toMatchObject([{ counted: false }]))
  expect(await bench.redis.hexists(bench.messageKey(id), 'jo')).toBe(0)
  expect(await bench.dead.getJobCounts()).toMatchObject({ waiting: 0 })
  await bench.redis.del(outbox)
  await eventually(async () => expect((await bench.facts()).at(-1)).toHaveProperty('attempt', 2))
  expect((await bench.facts()).at(-1)).toMatchObject({ state: 'succeeded' })
})

test('an attempt whose lock another worker holds changes nothing', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  bench.work(async (run) => {
    await bench.redis.set(`${bench.messageKey(run.id)}:lock`, 'another')
    return { kind: 'dead', reason: 'failed', error: FAILED }
  })
  await eventually(() => expect(bench.ends).toMatchObject([{ counted: false }]))
  expect(await bench.facts()).toEqual([])
  expect(await bench.dead.getJobCounts()).toMatchObject({ waiting: 0 })
  expect(await bench.redis.hexists(bench.messageKey(id), 'jo')).toBe(0)
  expect(bench.errors).toEqual([])
})

test('a lock that was lost while an attempt runs is told at once', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  bench.work(
    async (run): Promise<RunEnd> => {
      await bench.redis.set(`${bench.messageKey(run.id)}:lock`, 'another', 'PX', 60_000)
      await eventually(() => expect(bench.lost).toContain(run.id))
      return { kind: 'lost' }
    },
    { lockMs: 1_000 },
  )
  await eventually(() => expect(bench.ends).toMatchObject([{ end: { kind: 'lost' } }]))
  expect(bench.lost).toEqual([id])
  expect(bench.errors).toEqual([])
})

test.each(['1:succeeded', '1:dead'])(
  'a stored outcome %s is finished without the handler',
  async (stored) => {
    await using bench = openBench(server.url)
    const id = await bench.add()
    await bench.redis.hset(bench.messageKey(id), { ats: 1, jo: stored })
    bench.work(() => SUCCEEDED)
    await eventually(async () => expect(await bench.queue.getJob(id)).toBeUndefined())
    expect(bench.calls).toEqual([])
    expect(await bench.facts()).toEqual([])
  },
)

test('a retry that BullMQ was not told of waits for the rest of its delay without the handler', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  const dueAtMs = systemClock.now().getTime() + 3_000
  await bench.redis.hset(bench.messageKey(id), { ats: 1, jo: `1:retry:1:${dueAtMs}` })
  bench.work(() => SUCCEEDED)
  await eventually(() => expect(bench.ends).toHaveLength(1))
  expect(bench.calls).toMatchObject([{ attempt: 3, failures: 1, lostAttempts: [] }])
  expect(bench.calls[0]?.startedAtMs).toBeGreaterThanOrEqual(dueAtMs - 1)
})

test('starts without an outcome are told as lost attempts, with the outcome of the one that has one', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  await bench.redis.hset(bench.messageKey(id), { ats: 2 })
  bench.work(() => SUCCEEDED)
  await eventually(async () => expect(await bench.facts()).toHaveLength(3))
  expect(await bench.facts()).toMatchObject([
    { kind: 'attempt', id, attempt: 1, attempt_state: 'lost' },
    { kind: 'attempt', id, attempt: 2, attempt_state: 'lost' },
    { kind: 'run', id, attempt: 3, state: 'succeeded' },
  ])
})

test('a run that three workers died of is dead without a fourth call', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  await bench.redis.hset(bench.messageKey(id), { ats: 5, jo: '2:drained' })
  bench.work(() => SUCCEEDED)
  await eventually(async () => expect(await bench.dead.getJob(id)).toBeDefined())
  expect(bench.calls).toEqual([])
  expect((await bench.facts()).at(-1)).toMatchObject({ state: 'dead', reason: 'lost', attempt: 6 })
})

test('a worker that dies is followed by another after the lock, and the run is done again', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add()
  let release: ((end: RunEnd) => void) | undefined
  bench.work(
    (run) =>
      run.attempt > 1
        ? SUCCEEDED
        : new Promise<RunEnd>((resolve) => {
            release = resolve
            void bench.redis.del(`${bench.messageKey(id)}:lock`)
          }),
    { lockMs: 1_000 },
  )
  await eventually(async () => expect(await bench.facts()).toHaveLength(2))
  release?.(SUCCEEDED)
  await eventually(() => expect(bench.ends).toHaveLength(2))
  expect(bench.ends.map((end) => [end.run.attempt, end.counted])).toEqual([
    [2, true],
    [1, false],
  ])
  // What was lost uses up none of its attempts.
  expect(bench.calls).toMatchObject([
    { attempt: 1, failures: 0, lostAttempts: [] },
    { attempt: 2, failures: 0, lostAttempts: [1] },
  ])
})

test('a drained run goes to the front and the next worker does it at once', async () => {
  await using bench = openBench(server.url)
  const first = await bench.add()
  const second = await bench.add()
  const stopping = bench.work(
    async (run) => {
      expect(run.id).toBe(first)
      await eventually(() => expect(closing).toBeDefined())
      return { kind: 'drained' }
    },
    { concurrency: 1 },
  )
  let closing: Promise<void> | undefined
  await eventually(() => expect(bench.calls).toHaveLength(1))
  closing = stopping.close()
  await closing
  expect(await bench.facts()).toMatchObject([
    { state: 'queued', reason: 'drained', attempt: 1, revision: 12, attempt_state: 'drained' },
  ])
  bench.work(() => SUCCEEDED, { concurrency: 1 })
  await eventually(() => expect(bench.calls).toHaveLength(3))
  expect(bench.calls.map((run) => [run.id, run.attempt, run.failures])).toEqual([
    [first, 1, 0],
    [first, 2, 0],
    [second, 1, 0],
  ])
})
