import { keyLot, keys } from '@jadwal/queue'
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
