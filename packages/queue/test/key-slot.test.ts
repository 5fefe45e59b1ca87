import { randomUUID } from 'node:crypto'
import { cancelRun, keyLot, keys, type RunEnd, sweepFailed } from '@jadwal/queue'
import { systemClock } from '@jadwal/domain'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { QUEUE, setupKeys, sorted } from './setup-keys.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})
const setup = (options: { limit?: number } = {}) => setupKeys(server.url, options)

const FAILED = { name: 'Error', message: 'no route' }

test('so many runs of a key run at once, the others follow in the order in which they came', async () => {
  const { work, addOf, runs, end, parkedIds, slots, leftOvers, ends, calls, errors } = setup()
  const ids = await addOf('acme', 5)
  work()
  await runs(ids.slice(0, 2))
  await eventually(async () => expect(await parkedIds('acme')).toEqual(ids.slice(2)))
  const other = await addOf('beta', 1)
  await runs([...ids.slice(0, 2), ...other])
  end(ids[1])
  await runs([ids[0], ids[2], ...other])
  expect(await slots('acme')).toEqual(sorted([ids[0], ids[2]]))
  for (const id of [ids[0], ids[2], other[0]]) end(id)
  await runs([ids[3], ids[4]])
  for (const id of ids) end(id)
  await eventually(() => expect(ends).toHaveLength(6))
  expect(ends.map(({ run }) => run.attempt)).toEqual(Array(6).fill(1))
  // Each was looked at once, and once more when it was its turn.
  expect(calls).toHaveLength(6 + 3)
  expect(await leftOvers()).toEqual([])
  expect(errors).toEqual([])
})

test.each<[string, RunEnd]>([
  ['is to be retried', { kind: 'retry', error: FAILED, delayMs: 60_000 }],
  ['was put back', { kind: 'drained' }],
  ['waits for a worker that knows its job', { kind: 'left-alone', delayMs: 60_000 }],
  ['is dead', { kind: 'dead', reason: 'failed', error: FAILED }],
  ['was cancelled', { kind: 'cancelled', reason: 'cancelled' }],
])('a run that %s frees its slot', async (_, how) => {
  const { work, addOf, runs, end, parkedIds, running } = setup({ limit: 1 })
  const [first, second] = await addOf('acme', 2)
  work()
  await runs([first])
  await eventually(async () => expect(await parkedIds('acme')).toEqual([second]))
  end(first, how)
  await eventually(() => expect([...running.keys()]).toContain(second))
  // One that comes back at once waits for its turn.
  expect([...running.keys()]).toEqual([second])
})

test('a run whose worker died keeps its slot and needs no other', async () => {
  const { work, addOf, runs, running, redis, messageKey, calls, slots } = setup({ limit: 1 })
  const [id = '', second = ''] = await addOf('acme', 2)
  work({ lockMs: 5_000 })
  await runs([id])
  const dead = running.get(id)
  running.delete(id)
  await redis.del(`${messageKey(id)}:lock`)
  await runs([id])
  expect(calls.filter((call) => call.id === id).map((call) => call.attempt)).toEqual([1, 2])
  expect(await slots('acme')).toEqual([id])
  expect(await redis.hget(messageKey(second), 'ats')).toBe('0')
  dead?.({ kind: 'succeeded' })
})

test('cancels free slots of runs that wait, and a parked one is passed over', async () => {
  const { deps, queue, work, addOf, runs, end, parkedIds, slots, leftOvers, ends } = setup({
    limit: 1,
  })
  const [first, second = '', third = '', fourth] = await addOf('acme', 4)
  work()
  await runs([first])
  await eventually(async () => expect(await parkedIds('acme')).toHaveLength(3))
  const cancel = (id: string) =>
    cancelRun({ ...deps, nowIso: '2026-09-01T10:00:00Z' }, { queue: QUEUE, id }, 'cancelled')
  expect(await cancel(second)).toMatchObject({ result: 'cancelled' })
  await queue.pause()
  end(first)
  await eventually(async () => expect(await slots('acme')).toEqual([third]))
  expect(await cancel(third)).toMatchObject({ result: 'cancelled' })
  expect(await slots('acme')).toEqual([fourth])
  await queue.resume()
  await runs([fourth])
  end(fourth)
  await eventually(async () => expect(await leftOvers()).toEqual([]))
  expect(ends.map(({ run }) => run.id)).toEqual([first, fourth])
})

test('a run that lost too many attempts, and one that BullMQ gave up, free their slots', async () => {
  const { deps, work, addOf, runs, end, redis, queue, prefix, lot, messageKey, slots, dead } =
    setup({ limit: 1 })
  await queue.pause()
  const [poison = '', failed = '', third] = await addOf('acme', 3)
  const key = keys.slotsKey(prefix, QUEUE, lot('acme'))
  await redis.hset(messageKey(poison), { ats: 3, jslot: lot('acme') })
  await redis.sadd(key, poison)
  await redis.hset(keys.lotsKey(prefix, QUEUE), lot('acme'), 1)
  await redis.lrem(keys.bullKey(prefix, QUEUE, 'wait'), 1, failed)
  await queue.resume()
  work()
  await eventually(async () => expect(await dead.getJob(poison)).toBeDefined())
  await runs([third])

  await redis.zadd(keys.bullKey(prefix, QUEUE, 'failed'), 1, failed)
  await redis.hset(messageKey(failed), { jslot: lot('acme') })
  await redis.sadd(key, failed)
  await sweepFailed({ ...deps, clock: systemClock })
  expect(await slots('acme')).toEqual([third])
  end(third)
})

test('a raised limit lets parked runs start first, a lowered one lets none start until it is kept', async () => {
  const { setLimit, work, addOf, runs, end, parkedIds } = setup({ limit: 1 })
  const ids = await addOf('acme', 5)
  work()
  await runs(ids.slice(0, 1))
  await eventually(async () => expect(await parkedIds('acme')).toHaveLength(4))
  setLimit(3)
  const late = await addOf('acme', 1)
  await runs(ids.slice(0, 3))
  await eventually(async () => expect(await parkedIds('acme')).toEqual([...ids.slice(3), ...late]))
  setLimit(1)
  const last = await addOf('acme', 1)
  await eventually(async () =>
    expect(await parkedIds('acme')).toEqual([...ids.slice(3), ...late, ...last]),
  )
  end(ids[0])
  end(ids[1])
  await runs(ids.slice(2, 3))
  end(ids[2])
  await runs(ids.slice(3, 4))
})

test('a run whose key has changed since it got its slot goes by the new one', async () => {
  const { work, addOf, runs, redis, prefix, lot, messageKey, slots } = setup({ limit: 1 })
  await redis.hset(keys.lotsKey(prefix, QUEUE), lot('old'), 1)
  const [id = ''] = await addOf('new', 1)
  await redis.hset(messageKey(id), { jslot: lot('old') })
  await redis.sadd(keys.slotsKey(prefix, QUEUE, lot('old')), id)
  work()
  await runs([id])
  expect(await slots('old')).toEqual([])
  expect(await slots('new')).toEqual([id])
  expect(await redis.hkeys(keys.lotsKey(prefix, QUEUE))).toEqual([lot('new')])
})

test('keys are told apart, however long they are, and secret ones are not kept', () => {
  expect(keyLot('a.b', 'x')).toBe('key:a.b:=x')
  const long = keyLot('a.b', 'x'.repeat(5_000))
  expect(long.length).toBeLessThan(100)
  expect(long).not.toBe(keyLot('a.b', 'x'.repeat(5_001)))
  expect(keyLot('a.b', long.slice('key:a.b:'.length))).not.toBe(long)
  expect(keyLot('a.b', 'hidden', true)).not.toContain('hidden')
})

test('a worker that dies when its outcome is written has freed its slot, and who finishes its run frees no other', async () => {
  const { work, addOf, runs, end, redis, prefix, queue, slots, running } = setup({ limit: 1 })
  const [first = '', second] = await addOf('acme', 2)
  work()
  await runs([first])
  // BullMQ will not be able to complete it.
  await redis.lrem(keys.bullKey(prefix, QUEUE, 'active'), 1, first)
  end(first)
  await runs([second])
  await queue.pause()
  await redis.rpush(keys.bullKey(prefix, QUEUE, 'wait'), first)
  await queue.resume()
  await eventually(async () => expect(await queue.getJob(first)).toBeUndefined())
  expect(await slots('acme')).toEqual([second])
  expect([...running.keys()]).toEqual([second])
})

test('parked runs of a schedule are unfinished until they have ended', async () => {
  const { add, deps, work, runs, end, redis, prefix, parkedIds } = setup({ limit: 1 })
  const schedule = { id: randomUUID(), name: 'nightly' }
  const unfinished = keys.unfinishedKey(prefix, QUEUE, schedule.id)
  const ids: string[] = []
  while (ids.length < 3) ids.push(await add({ payload: { key: 'acme' }, schedule }))
  const [first, second = '', third] = ids
  await redis.sadd(unfinished, ...ids)
  work()
  await runs([first])
  await eventually(async () => expect(await parkedIds('acme')).toEqual([second, third]))
  expect(await redis.scard(unfinished)).toBe(3)
  const at = { ...deps, nowIso: '2026-09-01T10:00:00Z' }
  expect(await cancelRun(at, { queue: QUEUE, id: second }, 'superseded')).toMatchObject({
    result: 'cancelled',
  })
  expect(await redis.scard(unfinished)).toBe(2)
  end(first)
  await runs([third])
  expect(await redis.smembers(unfinished)).toEqual([third])
})
