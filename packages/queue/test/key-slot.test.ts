import {
  cancelRun,
  keyLot,
  keys,
  LotTender,
  type RunEnd,
  type StartedRun,
  sweepFailed,
  takeSlot,
} from '@jadwal/queue'
import { systemClock } from '@jadwal/domain'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBench } from './run-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const QUEUE = 'emails'
const SUCCEEDED: RunEnd = { kind: 'succeeded' }
const FAILED = { name: 'Error', message: 'no route' }

/** Workers whose runs take a slot of the key in their payload, and go on until the test ends them. */
function setup(options: { limit?: number } = {}) {
  const bench = openBench(server.url)
  const { prefix, redis } = bench
  const deps = { redis, prefix, queue: QUEUE, onError: (error: Error) => bench.errors.push(error) }
  const running = new Map<string, (end: RunEnd) => void>()
  let limit = options.limit ?? 2
  onTestFinished(async () => {
    running.set = (_id, end) => (end(SUCCEEDED), running)
    for (const end of running.values()) end(SUCCEEDED)
    await bench[Symbol.asyncDispose]()
  })
  const execute = async (run: StartedRun): Promise<RunEnd> => {
    run.mayHaveSlot = true
    const lot = keyLot(run.job, (run.message.payload as { key: string }).key)
    const taken = await takeSlot(deps, run, { lot, limit })
    if (taken !== 'go') return { kind: taken }
    return await new Promise((resolve) => void running.set(run.id, resolve))
  }
  const lot = (key: string) => keyLot('email.send', key)
  return {
    ...bench,
    deps,
    lot,
    running,
    setLimit: (next: number) => void (limit = next),
    work: (more: { concurrency?: number; lockMs?: number } = {}) =>
      bench.work(execute, { concurrency: 20, ...more }),
    async addOf(key: string, count: number): Promise<string[]> {
      const ids: string[] = []
      while (ids.length < count) ids.push(await bench.add({ payload: { key } }))
      return ids
    },
    end(id: string | undefined, end: RunEnd = SUCCEEDED): void {
      running.get(id ?? '')?.(end)
      running.delete(id ?? '')
    },
    runs: (ids: readonly (string | undefined)[]) =>
      eventually(() => expect([...running.keys()].toSorted()).toEqual(ids.toSorted())),
    parkedIds: (key: string) => redis.lrange(keys.parkedKey(prefix, QUEUE, lot(key)), 0, -1),
    slots: async (key: string) =>
      (await redis.smembers(keys.slotsKey(prefix, QUEUE, lot(key)))).toSorted(),
    tend:
      (of: number | 'none' | undefined = undefined) =>
      async () => {
        await redis.del(keys.lotsTendedKey(prefix, QUEUE))
        const tender = new LotTender({ redis, prefix, queue: QUEUE, limitOf: () => of })
        return await tender.tend()
      },
    leftOvers: async () => {
      const all = await redis.keys(`{${prefix}:*`)
      return all.filter((key) => /:(parked:.*|slots:.*|lots)$/.test(key))
    },
  }
}

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
  expect(await slots('acme')).toEqual([ids[0], ids[2]].toSorted())
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
  ['waits for a worker that knows its job', { kind: 'parked', delayMs: 60_000 }],
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
  work({ lockMs: 1_000 })
  await runs([id])
  const dead = running.get(id)
  running.delete(id)
  await redis.del(`${messageKey(id)}:lock`)
  await runs([id])
  expect(calls.filter((call) => call.id === id).map((call) => call.attempt)).toEqual([1, 2])
  expect(await slots('acme')).toEqual([id])
  expect(await redis.hget(messageKey(second), 'ats')).toBe('0')
  dead?.(SUCCEEDED)
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
  expect(await cancel(second)).toBe('cancelled')
  await queue.pause()
  end(first)
  await eventually(async () => expect(await slots('acme')).toEqual([third]))
  expect(await cancel(third)).toBe('cancelled')
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

test('slots of runs whose messages are gone are found, and what waits for them starts', async () => {
  const { work, addOf, runs, end, redis, messageKey, parkedIds, tend, slots } = setup({
    limit: 2,
  })
  const [first = '', second = '', third, fourth] = await addOf('acme', 4)
  work()
  await runs([first, second])
  await eventually(async () => expect(await parkedIds('acme')).toEqual([third, fourth]))
  for (const id of [first, second]) {
    await redis.del(messageKey(id), `${messageKey(id)}:lock`)
    end(id)
  }
  expect(await tend()()).toBe(2)
  await runs([third, fourth])
  expect(await slots('acme')).toEqual([third, fourth].toSorted())
  expect(await tend()()).toBe(0)
})

test('a new version that raises or drops its limit lets parked runs start', async () => {
  const { work, addOf, runs, end, setLimit, running, parkedIds, tend, leftOvers } = setup({
    limit: 1,
  })
  const ids = await addOf('acme', 6)
  work()
  await runs(ids.slice(0, 1))
  await eventually(async () => expect(await parkedIds('acme')).toHaveLength(5))
  setLimit(2)
  expect(await tend(2)()).toBe(1)
  await runs(ids.slice(0, 2))
  setLimit(1_000)
  expect(await tend('none')()).toBe(4)
  await runs(ids)
  for (const id of ids) end(id)
  await eventually(async () => expect(await leftOvers()).toEqual([]))
  expect(running.size).toBe(0)
})

test('a lot in which only runs lie that have gone is forgotten', async () => {
  const { redis, prefix, tend, leftOvers } = setup()
  for (const lot of ['fuse:email.send', keyLot('email.send', 'acme')]) {
    await redis.rpush(keys.parkedKey(prefix, QUEUE, lot), 'gone', 'gone too')
    await redis.hset(keys.lotsKey(prefix, QUEUE), lot, lot.startsWith('fuse') ? '' : '2')
  }
  expect(await tend()()).toBe(0)
  expect(await leftOvers()).toEqual([])
})

test('keys are told apart, however long they are, and secret ones are not kept', () => {
  expect(keyLot('a.b', 'x')).toBe('key:a.b:=x')
  const long = keyLot('a.b', 'x'.repeat(5_000))
  expect(long.length).toBeLessThan(100)
  expect(long).not.toBe(keyLot('a.b', 'x'.repeat(5_001)))
  expect(keyLot('a.b', long.slice('key:a.b:'.length))).not.toBe(long)
  expect(keyLot('a.b', 'hidden', true)).not.toContain('hidden')
})
