import { randomUUID } from 'node:crypto'
import { newRunId, type RunFact } from '@jadwal/domain'
import { eventually, inTime, startTestRedis } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import {
  createProducer,
  keys,
  listQueues,
  PayloadTooLargeError,
  RedisUnavailableError,
} from '../src/index.ts'

const JOB = { name: 'mail.send', queue: 'mails' }

function setup(url = inject('redisUrl')) {
  const prefix = `enqueue-${randomUUID()}`
  const producer = createProducer({ url, prefix, onError: () => {} })
  const redis = new Redis(url)
  redis.on('error', () => {})
  onTestFinished(async () => {
    await producer.close()
    redis.disconnect()
  })
  const bull = (part: string): string => keys.bullKey(prefix, 'mails', part)
  return { producer, redis, prefix, bull }
}

test('a run goes into its queue at once, and the queue becomes known', async () => {
  const { producer, redis, prefix, bull } = setup()
  const id = await producer.enqueue(JOB, { to: 'a' }, { attempts: 2, labels: { team: 'x' } })
  expect(await redis.lrange(bull('wait'), 0, -1)).toEqual([id])
  expect(JSON.parse((await redis.hget(bull(id), 'data')) ?? '')).toEqual({
    v: 1,
    payload: { to: 'a' },
    labels: { team: 'x' },
    attempts: 2,
  })
  expect(await listQueues(redis, prefix)).toEqual(['mails'])
})

test('a queue of Jadwal itself takes no runs', async () => {
  const { producer } = setup()
  for (const options of [{}, { idempotencyKey: 'k' }])
    await expect(
      producer.enqueue({ name: 'mail.send', queue: 'ticks' }, {}, options),
    ).rejects.toMatchObject({
      name: 'InvalidRunError',
      message: expect.stringContaining('queue ("ticks"): is reserved'),
    })
})

test('many keep their order, also beyond one batch', async () => {
  const { producer, redis, bull } = setup()
  const ids = await producer.enqueueMany(
    JOB,
    Array.from({ length: 1_200 }, (_, n) => ({ n })),
  )
  expect((await redis.lrange(bull('wait'), 0, -1)).toReversed()).toEqual(ids)
})

test('the same id is taken once while its message is there', async () => {
  const { producer, redis, bull } = setup()
  const id = newRunId(Date.now(), Buffer.alloc(10, 7))
  await producer.enqueue(JOB, { n: 1 }, { id })
  await producer.enqueue(JOB, { n: 1 }, { id })
  expect(await redis.llen(bull('wait'))).toBe(1)
})

test('a delayed run waits, and has a fact from the start that Postgres can take', async () => {
  const { producer, redis, prefix, bull } = setup()
  const runAt = new Date(Date.now() + 60_000)
  const id = await producer.enqueue(JOB, { text: 'a\u0000b' }, { runAt })
  expect(await redis.zcard(bull('delayed'))).toBe(1)
  const [entry] = await redis.xrange(keys.outboxKey(prefix, 'mails'), '-', '+')
  const text = entry?.[1][1] ?? ''
  expect(text).not.toContain('\\u0000')
  const fact = JSON.parse(text) as RunFact
  expect(fact).toMatchObject({ id, state: 'queued', attempt: 0, run_at: runAt.toISOString() })
})

test.each([
  ['1e16 ms', { delayMs: 1e16 }],
  ['no number', { delayMs: Number.NaN }],
  ['an instant that would read as held', { runAt: new Date('2039-10-01T00:00:00Z') }],
])('a delay of %s is refused, and nothing is sent', async (_case, options) => {
  const { producer, redis, bull } = setup()
  await expect(producer.enqueue(JOB, {}, options)).rejects.toThrow(/^delay .*\(5 years\)$/)
  await expect(producer.enqueueMany(JOB, [{}, {}], options)).rejects.toThrow(RangeError)
  expect(await redis.exists(bull('wait'), bull('delayed'), bull('id'))).toBe(0)
})

test('a payload that is too large is refused with both sizes', async () => {
  const { producer, redis, bull } = setup()
  const large = 'x'.repeat(600 * 1024)
  await expect(producer.enqueue(JOB, { large })).rejects.toThrow(PayloadTooLargeError)
  expect(await redis.exists(bull('wait'))).toBe(0)
})

test('with Redis away it fails within seconds, and goes on by itself afterwards', async () => {
  const own = await startTestRedis()
  onTestFinished(() => own[Symbol.asyncDispose]())
  const { producer } = setup(own.url)
  await producer.enqueue(JOB, {})
  await own.kill()
  await inTime(3_000, async () => {
    await expect(producer.enqueue(JOB, {})).rejects.toThrow(RedisUnavailableError)
  })
  await own.start()
  await eventually(() => producer.enqueue(JOB, {}))
})
