import { randomBytes } from 'node:crypto'
import { newRunId, systemClock } from '@jadwal/domain'
import { keys, openRedis, producerConnection, redisReady, retryNow } from '@jadwal/queue'
import { Queue } from 'bullmq'
import { expect, inject, onTestFinished, test } from 'vitest'

const QUEUE = 'emails'
const anId = (): string => newRunId(systemClock.now().getTime(), randomBytes(10))

test('a run that waits for a retry is due at once, one that never failed or is held is not', async () => {
  const prefix = `retry-${randomBytes(4).toString('hex')}`
  const redis = openRedis(producerConnection(inject('redisUrl')), () => undefined)
  await redisReady(redis, 10_000)
  const queue = new Queue(QUEUE, { connection: redis, prefix: keys.bullPrefix(prefix, QUEUE) })
  onTestFinished(async () => {
    await queue.close()
    redis.disconnect()
  })
  const [failed, fresh, held] = [anId(), anId(), anId()]
  for (const id of [failed, fresh, held])
    await queue.add('email.send', { v: 1, payload: {} }, { jobId: id, delay: 3_600_000 })
  const delayed = keys.bullKey(prefix, QUEUE, 'delayed')
  for (const id of [failed, held]) await redis.hset(keys.bullKey(prefix, QUEUE, id), 'atm', 1)
  await redis.zadd(delayed, 2 ** 53 - 1, held)
  const now = async (id: string) => await retryNow(redis, prefix, { queue: QUEUE, id })
  const dueMs = systemClock.now().getTime()
  const first = await now(failed)
  expect(first?.before.getTime()).toBeGreaterThan(dueMs + 3_000_000)
  expect(first?.after.getTime()).toBeLessThan(dueMs + 60_000)
  expect([await now(fresh), await now(held), await now(anId())]).toEqual(Array(3).fill(undefined))
  const score = Number(await redis.zscore(delayed, failed))
  expect(score).toBeLessThanOrEqual((systemClock.now().getTime() + 1_000) * 4_096)
  expect(await redis.zscore(keys.bullKey(prefix, QUEUE, 'marker'), '1')).toBe(
    String(Math.floor(score / 4_096)),
  )
  const again = await now(failed)
  expect(again).toEqual({ before: first?.after, after: first?.after })
})
