import { randomUUID } from 'node:crypto'
import { DAY, systemClock } from '@jadwal/domain'
import { keys, RedisClock, registerQueues } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { trimQueues } from '../src/trim-queues.ts'

test('dead letters go when the history of their runs does, oldest first', async () => {
  const redis = new Redis(inject('redisUrl'))
  onTestFinished(() => redis.disconnect())
  const prefix = `trim-${randomUUID()}`
  await registerQueues(redis, prefix, ['mails'])
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const letter = async (id: string, days: number): Promise<void> => {
    const diedAt = redisClock.nowMs() - days * DAY
    await redis.hset(keys.deadKey(prefix, 'mails', id), 'name', 'mail', 'timestamp', diedAt)
    await redis.lpush(keys.deadKey(prefix, 'mails', 'wait'), id)
  }
  await letter('old', 31)
  await letter('young', 29)
  const log = createLogger('scheduler', 'silent', 'test')
  await trimQueues({ redis, redisClock, prefix, log, retentionDays: 30 })
  expect(await redis.lrange(keys.deadKey(prefix, 'mails', 'wait'), 0, -1)).toEqual(['young'])
  expect(await redis.exists(keys.deadKey(prefix, 'mails', 'old'))).toBe(0)
})
