import { randomUUID } from 'node:crypto'
import { ALERTS_QUEUE } from '@jadwal/domain'
import { startTestRedis } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { createProducer, TryLaterError } from '../src/index.ts'

test('at 70 % of its memory Redis is told no more runs, but messages of alerts', async () => {
  await using server = await startTestRedis()
  const redis = new Redis(server.url)
  const to = { url: server.url, prefix: `full-${randomUUID()}`, onError: () => {} }
  const producer = createProducer(to)
  const alerts = createProducer({ ...to, isForAlerts: true })
  onTestFinished(async () => {
    await Promise.all([producer.close(), alerts.close()])
    redis.disconnect()
  })
  const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
  await redis.config('SET', 'maxmemory', Math.round(used * 1.3))
  await expect(producer.enqueue({ name: 'mail.send', queue: 'mails' }, {})).rejects.toThrow(
    TryLaterError,
  )
  const id = await alerts.enqueue({ name: 'alert.slack', queue: ALERTS_QUEUE }, {})
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
})
