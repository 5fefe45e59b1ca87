import { keyLot, keys } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HELD_SCORE } from '../src/unfinished-lua.ts'
import { QUEUE, setupKeys, sorted } from './setup-keys.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})
const setup = (options: { limit?: number } = {}) => setupKeys(server.url, options)

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
  expect(await slots('acme')).toEqual(sorted([third, fourth]))
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

test.each(['fuse:email.send', keyLot('email.send', 'acme')])(
  'however many runs of the lot %s have gone, one look passes over all of them',
  async (lot) => {
    const { redis, prefix, tend, add, queue, messageKey } = setup()
    await queue.pause()
    const id = await add({ payload: { key: 'acme' } })
    await redis.lrem(keys.bullKey(prefix, QUEUE, 'paused'), 1, id)
    await redis.zadd(keys.bullKey(prefix, QUEUE, 'delayed'), HELD_SCORE, id)
    await redis.hset(messageKey(id), 'jlot', lot)
    const parked = keys.parkedKey(prefix, QUEUE, lot)
    const gone = Array.from({ length: 5_000 }, (_, at) => `gone-${at}`)
    await redis.rpush(parked, ...gone, id)
    const isFuse = lot.startsWith('fuse')
    await redis.hset(keys.lotsKey(prefix, QUEUE), lot, isFuse ? '' : '2')
    expect(await tend()()).toBe(isFuse ? 0 : 1)
    expect(await redis.lrange(parked, 0, -1)).toEqual(isFuse ? [id] : [])
  },
)

test('of more lots than one look gets through, the next goes on behind them, whichever worker makes it', async () => {
  const { redis, prefix, tend } = setup()
  const lots = Array.from({ length: 2_500 }, (_, at) => keyLot('email.send', `customer-${at}`))
  await redis.hset(keys.lotsKey(prefix, QUEUE), ...lots.flatMap((lot) => [lot, '2']))
  const left = (): Promise<number> => redis.hlen(keys.lotsKey(prefix, QUEUE))
  await tend()()
  const afterOne = await left()
  expect(afterOne).toBeGreaterThan(1_000)
  expect(afterOne).toBeLessThanOrEqual(1_500)
  expect(await redis.exists(keys.lotsCursorKey(prefix, QUEUE))).toBe(1)
  await tend()()
  await tend()()
  expect(await left()).toBe(0)
  expect(await redis.exists(keys.lotsCursorKey(prefix, QUEUE))).toBe(0)
})
