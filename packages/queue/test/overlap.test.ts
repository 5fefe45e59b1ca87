import { carryOutCancels, keys } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { QUEUE, setupOverlap, TICK } from './setup-overlap.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})
const setup = () => setupOverlap(server.url)

test('with skip, a tick gets no run while one is unfinished, whatever policy that one was fired with', async () => {
  const { fire, work, end, isRunning, states, unfinished } = await setup()
  const first = await fire('allow')
  const second = await fire('skip')
  expect(await states()).toEqual({ [first]: 'queued', [second]: 'skipped overlap' })
  work()
  await isRunning(first)
  const third = await fire('skip')
  end(first)
  await eventually(async () => expect(await unfinished()).toEqual([]))
  const fourth = await fire('skip')
  await isRunning(fourth)
  expect(await states()).toMatchObject({ [third]: 'skipped overlap', [fourth]: 'queued' })
})

test('a run that is to be retried is unfinished, one that is dead is not', async () => {
  const { fire, work, end, isRunning, states, unfinished } = await setup()
  work()
  const first = await fire('skip')
  await isRunning(first)
  const error = { name: 'Error', message: 'no route' }
  end(first, { kind: 'retry', error, delayMs: 300 })
  await eventually(async () => expect((await states())[first]).toBe('retrying'))
  const second = await fire('skip')
  await isRunning(first)
  end(first, { kind: 'dead', reason: 'failed', error })
  await eventually(async () => expect(await unfinished()).toEqual([]))
  const third = await fire('skip')
  expect(await states()).toMatchObject({ [second]: 'skipped overlap', [third]: 'queued' })
})

test('with queue-latest, the latest run waits for the unfinished one and replaces the one that waited', async () => {
  const { fire, work, end, isRunning, running, states, held } = await setup()
  work()
  const first = await fire('queue-latest')
  await isRunning(first)
  const second = await fire('queue-latest')
  expect(await held()).toBe(second)
  const third = await fire('queue-latest')
  expect(await held()).toBe(third)
  expect(await states()).toMatchObject({
    [second]: 'cancelled superseded',
    [third]: 'queued',
  })
  expect([...running.keys()]).toEqual([first])
  end(first)
  await isRunning(third)
  end(third)
  await eventually(async () => expect((await states())[third]).toBe('succeeded'))
})

test('a run that waits starts only after all that are unfinished have ended', async () => {
  const { fire, work, end, isRunning, running, unfinished } = await setup()
  work()
  const [a, b] = [await fire('allow'), await fire('allow')]
  await isRunning(a)
  await isRunning(b)
  const waiting = await fire('queue-latest')
  end(a)
  await eventually(async () => expect(await unfinished()).not.toContain(a))
  expect([...running.keys()]).toEqual([b])
  end(b)
  await isRunning(waiting)
})

test('a run that waits does so too while the unfinished one is taken over from a worker that died', async () => {
  const { fire, work, end, isRunning, held } = await setup()
  const lost = work({ lockMs: 1_000 })
  const first = await fire('queue-latest')
  await isRunning(first)
  const second = await fire('queue-latest')
  end(first, { kind: 'drained' })
  await lost.close()
  expect(await held()).toBe(second)
  work()
  await isRunning(first)
  end(first)
  await isRunning(second)
})

test('with cancel-running, the unfinished run is told to end and the new one starts after it', async () => {
  const { fire, work, end, isRunning, running, states, redis, prefix, held } = await setup()
  work()
  const first = await fire('cancel-running')
  await isRunning(first)
  const second = await fire('cancel-running')
  expect(await redis.hgetall(keys.cancelsKey(prefix, QUEUE))).toEqual({ [first]: 'superseded' })
  expect(await held()).toBe(second)
  expect([...running.keys()]).toEqual([first])
  end(first, { kind: 'cancelled', reason: 'superseded' })
  await isRunning(second)
  expect(await states()).toMatchObject({ [first]: 'cancelled superseded', [second]: 'queued' })
})

test('with cancel-running, a run that waits for a worker is cancelled by whoever carries out the marks', async () => {
  const { fire, work, isRunning, states, deps, redis, prefix } = await setup()
  const first = await fire('cancel-running')
  const second = await fire('cancel-running')
  expect(await carryOutCancels(deps, QUEUE)).toBe(1)
  expect(await states()).toEqual({ [first]: 'cancelled superseded', [second]: 'queued' })
  expect(await redis.hgetall(keys.cancelsKey(prefix, QUEUE))).toEqual({})
  work()
  await isRunning(second)
})

test('a run whose message somebody removed holds up no later one', async () => {
  const { fire, queue, states, work, isRunning, end, unfinished } = await setup()
  const first = await fire('skip')
  await (await queue.getJob(first))?.remove()
  const second = await fire('skip')
  expect((await states())[second]).toBe('queued')
  expect(await unfinished()).toEqual([second])
  work()
  await isRunning(second)
  end(second)
})

test('a run that waits is due no sooner than its jitter says', async () => {
  const { fire, work, end, isRunning, queue } = await setup()
  work()
  const first = await fire('queue-latest')
  await isRunning(first)
  const inAnHour = Date.now() + 3_600_000 - TICK
  const second = await fire('queue-latest', inAnHour)
  end(first)
  await eventually(async () => {
    const score = await queue.getJob(second).then((message) => message?.getState())
    expect(score).toBe('delayed')
    const [due] = await queue.getDelayed()
    expect(due?.id).toBe(second)
  })
})

test('a run that waits is let go when another that is listed has lost its message', async () => {
  const { fire, work, end, isRunning, queue, held } = await setup()
  const gone = await fire('allow')
  await (await queue.getJob(gone))?.remove()
  work()
  const first = await fire('allow')
  await isRunning(first)
  const waiting = await fire('queue-latest')
  expect(await held()).toBe(waiting)
  end(first)
  await isRunning(waiting)
  expect(await held()).toBeNull()
})

test('once ticks may overlap, a run that waited under another policy waits no longer', async () => {
  const { fire, work, isRunning, held } = await setup()
  work()
  const first = await fire('queue-latest')
  await isRunning(first)
  const waiting = await fire('queue-latest')
  const beside = await fire('allow')
  await isRunning(beside)
  await isRunning(waiting)
  expect(await held()).toBeNull()
})

test.each(['skip', 'queue-latest', 'cancel-running'] as const)(
  'a tick that is fired again under %s leaves its run as it is',
  async (policy) => {
    const { fire, fireAgain, work, isRunning, end, states, cancelMarks } = await setup()
    const id = await fire(policy)
    await fireAgain(policy)
    work()
    await isRunning(id)
    await fireAgain(policy)
    expect(await cancelMarks()).toEqual({})
    end(id)
    await eventually(async () => expect((await states())[id]).toBe('succeeded'))
  },
)
