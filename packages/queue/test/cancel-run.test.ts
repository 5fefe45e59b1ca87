import { cancelRun, carryOutCancels, findRunInRedis, keyLot, keys, takeSlot } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { Worker } from 'bullmq'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { NOW, QUEUE, setupOverlap } from './setup-overlap.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})
const setup = () => setupOverlap(server.url)

test.each(['waiting', 'delayed', 'prioritized'])(
  'cancels a run that is %s at once',
  async (where) => {
    const { add, queue, facts, deps, redis, prefix, queue: bull } = await setup()
    await bull.pause()
    const id = await add()
    const message = await queue.getJob(id)
    if (where === 'delayed') await redis.zadd(keys.bullKey(prefix, QUEUE, 'delayed'), 9e15, id)
    if (where === 'delayed') await redis.lrem(keys.bullKey(prefix, QUEUE, 'wait'), 1, id)
    if (where === 'prioritized') await message?.changePriority({ priority: 5 })
    const run = { queue: QUEUE, id }
    const told = await Promise.all([1, 2, 3].map(() => cancelRun(deps, run, 'cancelled')))
    // Whoever finds it marked by another has not done it.
    expect(told.map(({ before }) => before).filter((before) => before === 'queued')).toHaveLength(1)
    expect(told.filter(({ result }) => result === 'cancelled')).toHaveLength(1)
    expect(await queue.getJob(id)).toBeUndefined()
    expect(await facts()).toMatchObject([
      { id, state: 'cancelled', reason: 'cancelled', revision: 3, finished_at: NOW },
    ])
    expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toMatchObject({
      result: 'gone',
    })
  },
)

test('a running run is marked, and its worker ends it', async () => {
  const { add, work, isRunning, end, facts, deps, redis, prefix } = await setup()
  work()
  const id = await add()
  await isRunning(id)
  expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toEqual({
    before: 'running',
    result: 'cancelling',
  })
  expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toEqual({
    before: 'cancelling',
    result: 'cancelling',
  })
  end(id, { kind: 'cancelled', reason: 'cancelled' })
  await eventually(async () =>
    expect(await facts()).toMatchObject([
      { id, state: 'cancelled', reason: 'cancelled', revision: 13, attempt_state: 'cancelled' },
    ]),
  )
  await eventually(async () => {
    await carryOutCancels(deps, QUEUE)
    expect(await redis.hlen(keys.cancelsKey(prefix, QUEUE))).toBe(0)
  })
})

test('a marked run that a worker only just takes up is cancelled without its handler', async () => {
  const { add, work, cancels, ends, calls, redis, prefix } = await setup()
  const id = await add()
  await redis.hset(keys.cancelsKey(prefix, QUEUE), id, 'cancelled')
  cancels.add(id)
  work()
  await eventually(() => expect(ends.map(({ end }) => end.kind)).toEqual(['cancelled']))
  expect(calls).toEqual([])
})

test('a run whose mark is gone is made, whatever was heard of it', async () => {
  const { add, work, cancels, isRunning, ends } = await setup()
  const id = await add()
  cancels.add(id)
  work()
  await isRunning(id)
  expect(ends).toEqual([])
})

test('a marked run whose worker died is cancelled by the next one, which heard of nothing', async () => {
  const { add, work, deps, ends, calls, redis, prefix } = await setup()
  const id = await add({}, { ats: 1 })
  await redis.hset(keys.cancelsKey(prefix, QUEUE), id, 'superseded')
  work()
  await eventually(() =>
    expect(ends.map(({ end }) => end)).toEqual([{ kind: 'cancelled', reason: 'superseded' }]),
  )
  expect(calls).toEqual([])
  expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toMatchObject({ result: 'gone' })
})

test.each([
  { kept: { ats: 2 }, lost: [1, 2] },
  { kept: { ats: 2, jo: '1:drained' }, lost: [2] },
  { kept: { ats: 1, atm: 1, jo: `1:retry:1:${Date.parse(NOW)}` }, lost: [] },
])(
  'attempts that nobody told the end of are lost when their run is cancelled: $kept',
  async (given) => {
    const { add, queue, facts, deps } = await setup()
    await queue.pause()
    const id = await add({}, given.kept)
    await queue.pause()
    expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toMatchObject({
      result: 'cancelled',
    })
    expect(await facts()).toEqual([
      ...given.lost.map((attempt) => ({ kind: 'attempt', id, attempt, attempt_state: 'lost' })),
      expect.objectContaining({ kind: 'run', id, state: 'cancelled', attempt: given.kept.ats }),
    ])
  },
)

test('the fact of a cancelled run has nothing of its progress, which is not recorded', async () => {
  const { add, queue, facts, deps, redis, prefix } = await setup()
  await queue.pause()
  const id = await add({}, { ats: 1, atm: 1, progress: '{"done":3}' })
  await queue.pause()
  const found = await findRunInRedis(redis, prefix, { queues: [QUEUE], id })
  expect(found).toHaveProperty('progress', { done: 3 })
  expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toMatchObject({
    result: 'cancelled',
  })
  expect((await facts()).at(-1)).toMatchObject({ id, state: 'cancelled' })
  expect((await facts()).at(-1)).not.toHaveProperty('progress')
})

test('a follower hears of the end of a run alone, whatever of its attempts was lost', async () => {
  const { add, queue, deps, redis, prefix } = await setup()
  await queue.pause()
  const id = await add({}, { ats: 1 })
  await queue.pause()
  await redis.zadd(keys.followedKey(prefix, QUEUE), 9e15, id)
  await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')
  const told = JSON.parse((await redis.get(keys.endedKey(prefix, QUEUE, id))) ?? '')
  expect(told).toMatchObject({ kind: 'run', state: 'cancelled' })
})

test('a run that was marked between its start and its parking is cancelled in its lot', async () => {
  const { add, facts, deps, queue, redis, prefix } = await setup()
  await queue.pause()
  const id = await add()
  const worker = new Worker(QUEUE, null, {
    ...queue.opts,
    connection: redis,
    skipStalledCheck: true,
  })
  onTestFinished(() => worker.close())
  await queue.resume()
  await worker.getNextJob('holder', { block: false })
  const slot = (run: { id: string; token: string }) =>
    takeSlot({ ...deps, queue: QUEUE, onError: () => {} }, run, {
      lot: keyLot('email.send', 'a'),
      limit: 1,
    })
  await redis.set(`${keys.bullKey(prefix, QUEUE, 'other')}:lock`, 'other')
  await redis.hset(keys.bullKey(prefix, QUEUE, 'other'), 'name', 'email.send')
  expect(await slot({ id: 'other', token: 'other' })).toBe('go')
  expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toMatchObject({
    result: 'cancelling',
  })
  expect(await slot({ id, token: 'holder' })).toBe('in-lot')
  expect(await carryOutCancels(deps, QUEUE)).toBe(1)
  expect(await facts()).toMatchObject([{ id, state: 'cancelled', attempt: 0 }])
  expect(await redis.hlen(keys.cancelsKey(prefix, QUEUE))).toBe(0)
})
