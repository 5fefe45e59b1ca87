import { randomBytes } from 'node:crypto'
import {
  deadLetterFields,
  keys,
  openRedis,
  trimDeadLetters,
  trimRejected,
  workerConnection,
} from '@jadwal/queue'
import { expect, inject, onTestFinished, test } from 'vitest'

const QUEUE = 'emails'
const DAY_1 = Date.parse('2026-09-01T00:00:00Z')
const DAY_2 = Date.parse('2026-09-02T00:00:00Z')

function setup() {
  const redis = openRedis(workerConnection(inject('redisUrl')), () => undefined)
  onTestFinished(() => redis.disconnect())
  const prefix = `t${randomBytes(4).toString('hex')}`
  const list = keys.deadKey(prefix, QUEUE, 'wait')
  const letterKey = (id: string): string => keys.deadKey(prefix, QUEUE, id)
  const bury = async (id: string, diedAtMs: number): Promise<void> => {
    const at = new Date(diedAtMs).toISOString()
    const death = { reason: 'failed', attempt: 1, at } as const
    const letter = { job: 'email.send', data: {}, enqueuedAtMs: 0, failures: 1, death }
    await redis.hset(letterKey(id), deadLetterFields(letter))
    await redis.lpush(list, id)
  }
  return { redis, prefix, list, letterKey, bury }
}

test('dead letters go by when their run died, oldest first, a batch at a time', async () => {
  const { redis, prefix, list, letterKey, bury } = setup()
  for (const id of ['a', 'b', 'c']) await bury(id, DAY_1)
  await bury('d', DAY_2)
  const trim = () => trimDeadLetters(redis, prefix, { queue: QUEUE, beforeMs: DAY_2, batch: 2 })

  expect(await trim()).toBe(2)
  expect(await redis.lrange(list, 0, -1)).toEqual(['d', 'c'])
  expect(await trim()).toBe(1)
  expect(await trim()).toBe(0)
  expect(await redis.lrange(list, 0, -1)).toEqual(['d'])
  expect(await redis.exists(...['a', 'b', 'c'].map(letterKey))).toBe(0)
  expect(await redis.exists(letterKey('d'))).toBe(1)
})

test('an id without a letter goes, and a letter of somebody else by when it was added', async () => {
  const { redis, prefix, list, letterKey } = setup()
  await redis.lpush(list, 'gone', 'old', 'young')
  await redis.hset(letterKey('old'), { timestamp: DAY_1 })
  await redis.hset(letterKey('young'), { timestamp: DAY_2 })
  const trimmed = await trimDeadLetters(redis, prefix, {
    queue: QUEUE,
    beforeMs: DAY_2,
    batch: 100,
  })
  expect(trimmed).toBe(2)
  expect(await redis.lrange(list, 0, -1)).toEqual(['young'])
})

test('facts that were put aside go by when that was', async () => {
  const { redis, prefix } = setup()
  const key = keys.outboxRejectedKey(prefix, QUEUE)
  await redis.xadd(key, DAY_1, 'fact', '{}')
  await redis.xadd(key, DAY_2, 'fact', '{}')
  const trim = () => trimRejected(redis, prefix, { queue: QUEUE, beforeMs: DAY_2 })
  expect(await trim()).toBe(1)
  expect(await trim()).toBe(0)
  expect((await redis.xrange(key, '-', '+')).map(([id]) => id)).toEqual([`${DAY_2}-0`])
})
