import { randomBytes, randomUUID } from 'node:crypto'
import { newRunId } from '@jadwal/domain'
import { startTestRedis } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createProducer, IdempotencyConflictError, keys, type Producer } from '../src/index.ts'

const JOB = { name: 'mail.send', queue: 'mails' }
const HOUR = 3_600_000

function setup(url = inject('redisUrl')) {
  const prefix = `once-${randomUUID()}`
  const redis = new Redis(url)
  const open = (): Producer => {
    const producer = createProducer({ url, prefix, onError: () => {} })
    onTestFinished(() => producer.close())
    return producer
  }
  onTestFinished(() => redis.disconnect())
  const bull = (part: string): string => keys.bullKey(prefix, 'mails', part)
  return {
    producer: open(),
    open,
    redis,
    prefix,
    bull,
    waiting: async (): Promise<string[]> => (await redis.lrange(bull('wait'), 0, -1)).toReversed(),
    /** What a worker leaves of a run: nothing. */
    end: async (id: string): Promise<void> => {
      await redis.del(bull(id))
      await redis.lrem(bull('wait'), 0, id)
    },
    facts: async (): Promise<Record<string, unknown>[]> =>
      (await redis.xrange(keys.outboxKey(prefix, 'mails'), '-', '+')).flatMap(([, fields]) =>
        (fields[1] ?? '').split('\n').map((line) => JSON.parse(line) as Record<string, unknown>),
      ),
  }
}

const ownId = (): string => newRunId(Date.now(), randomBytes(10))

test('the same key is the same run, also when that has ended, for a day', async () => {
  const { producer, redis, prefix, waiting, end, bull } = setup()
  const id = await producer.enqueue(JOB, { n: 1 }, { idempotencyKey: 'order-1' })
  expect(JSON.parse((await redis.hget(bull(id), 'data')) ?? '')).toEqual({
    v: 1,
    payload: { n: 1 },
    idempotencyKey: 'order-1',
  })
  expect(await producer.enqueue(JOB, { n: 1 }, { idempotencyKey: 'order-1' })).toBe(id)
  expect(await waiting()).toEqual([id])
  await end(id)
  expect(await producer.enqueue(JOB, { n: 1 }, { idempotencyKey: 'order-1' })).toBe(id)
  expect(await waiting()).toEqual([])
  const claim = keys.idempotencyClaimKey(prefix, 'mails', { job: JOB.name, key: 'order-1' })
  const leftMs = await redis.pttl(claim)
  expect(leftMs).toBeGreaterThan(23 * HOUR)
  expect(leftMs).toBeLessThanOrEqual(24 * HOUR)
  await redis.del(claim)
  expect(await producer.enqueue(JOB, { n: 1 }, { idempotencyKey: 'order-1' })).not.toBe(id)
})

test('a key is of one job: another one may use it too', async () => {
  const { producer, waiting } = setup()
  const options = { idempotencyKey: 'order-1' }
  const one = await producer.enqueue(JOB, {}, options)
  const other = await producer.enqueue({ ...JOB, name: 'mail.print' }, {}, options)
  expect(await waiting()).toEqual([one, other])
})

test('another payload under a key is refused with the first run; the order of its fields is nothing', async () => {
  const { producer, waiting } = setup()
  const options = { idempotencyKey: 'order-1' }
  const id = await producer.enqueue(JOB, { a: 1, b: { c: 2, d: [3, { e: 4, f: 5 }] } }, options)
  const turned = { b: { d: [3, { f: 5, e: 4 }], c: 2 }, a: 1 }
  expect(await producer.enqueue(JOB, turned, options)).toBe(id)
  const error = await producer.enqueue(JOB, { a: 2 }, options).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(IdempotencyConflictError)
  expect(error).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
    field: 'idempotencyKey',
    value: 'order-1',
    runId: id,
    message: expect.stringMatching(/^idempotencyKey \("order-1"\): belongs to run .*another key$/),
  })
  expect(await waiting()).toEqual([id])
})

test('of producers that race with one key, one adds the run and all get its id', async () => {
  const { open, waiting } = setup()
  const producers = Array.from({ length: 4 }, open)
  const ids = await Promise.all(
    producers.flatMap((producer) =>
      Array.from({ length: 10 }, () => producer.enqueue(JOB, {}, { idempotencyKey: 'race' })),
    ),
  )
  expect(new Set(ids).size).toBe(1)
  expect(await waiting()).toEqual([ids[0]])
})

test('keys of 200 characters that differ at their end are two', async () => {
  const { producer, waiting } = setup()
  for (const end of ['a', 'b', 'a'])
    await producer.enqueue(JOB, {}, { idempotencyKey: 'k'.repeat(199) + end })
  expect(await waiting()).toHaveLength(2)
})

test('an id of the client is one run, also when that has ended, and of no other payload', async () => {
  const { producer, waiting, end } = setup()
  const id = ownId()
  expect(await producer.enqueue(JOB, { n: 1 }, { id })).toBe(id)
  expect(await producer.enqueue(JOB, { n: 1 }, { id })).toBe(id)
  expect(await waiting()).toEqual([id])
  await end(id)
  expect(await producer.enqueue(JOB, { n: 1 }, { id })).toBe(id)
  expect(await waiting()).toEqual([])
  const refused = producer.enqueue(JOB, { n: 2 }, { id })
  await expect(refused).rejects.toMatchObject({ field: 'id', value: id, runId: id })
})

test('an id of the client is of one queue: in another one it is refused, and nothing is enqueued', async () => {
  const { producer, redis, prefix, waiting } = setup()
  const print = { name: 'page.print', queue: 'pages' }
  const printed = (): Promise<number> => redis.llen(keys.bullKey(prefix, 'pages', 'wait'))
  const id = ownId()
  await producer.enqueue(JOB, {}, { id })
  const conflict = {
    code: 'IDEMPOTENCY_CONFLICT',
    field: 'id',
    value: id,
    message: `id ("${id}"): belongs to a run of the queue "mails": make a new one with newRunId()`,
  }
  for (const given of [id, id.toUpperCase()])
    await expect(producer.enqueue(print, {}, { id: given })).rejects.toMatchObject(conflict)
  const twice = ownId()
  const many = producer.send([
    { job: JOB, payload: 1 },
    { job: print, payload: 2, options: { id: twice } },
    { job: JOB, payload: 3, options: { id: twice } },
  ])
  await expect(many).rejects.toMatchObject({ field: 'id', value: twice, index: 2 })
  expect([await waiting(), await printed()]).toEqual([[id], 0])
  const leftMs = await redis.pttl(keys.idHomeKey(prefix, id))
  expect(leftMs).toBeGreaterThan(24 * HOUR)
  expect(leftMs).toBeLessThanOrEqual(25 * HOUR)
})

test('of calls that race with one id for two queues, those of one queue are accepted', async () => {
  const { open } = setup()
  const producers = Array.from({ length: 4 }, open)
  const id = ownId()
  const results = await Promise.allSettled(
    producers.map(async (producer, at) => {
      const queue = at % 2 === 0 ? 'mails' : 'pages'
      await producer.enqueue({ name: JOB.name, queue }, {}, { id })
      return queue
    }),
  )
  const accepted = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  expect(accepted).toHaveLength(2)
  expect(new Set(accepted).size).toBe(1)
})

test('a key that is taken goes before a new id', async () => {
  const { producer, waiting } = setup()
  const first = await producer.enqueue(JOB, {}, { idempotencyKey: 'k' })
  expect(await producer.enqueue(JOB, {}, { idempotencyKey: 'k', id: ownId() })).toBe(first)
  expect(await waiting()).toEqual([first])
})

test('a delayed run has its fact once, with its key', async () => {
  const { producer, facts } = setup()
  const options = { idempotencyKey: 'later', delayMs: HOUR, priority: 5 }
  const id = await producer.enqueue(JOB, { n: 1 }, options)
  await producer.enqueue(JOB, { n: 1 }, options)
  expect(await facts()).toEqual([
    expect.objectContaining({ id, state: 'queued', idempotency_key: 'later', priority: 5 }),
  ])
})

test('of many runs, those that are there already keep their ids, and all keep their order', async () => {
  const { producer, waiting } = setup()
  const id = await producer.enqueue(JOB, { n: 7 }, { idempotencyKey: 'k7' })
  const payloads = Array.from({ length: 600 }, (_, n) => ({ n }))
  const idempotencyKeys = payloads.map(({ n }) => `k${n}`)
  const ids = await producer.enqueueMany(JOB, payloads, { idempotencyKeys })
  expect(ids[7]).toBe(id)
  expect(await waiting()).toEqual([id, ...ids.filter((each) => each !== id)])
  expect(await producer.enqueueMany(JOB, payloads, { idempotencyKeys })).toEqual(ids)
})

test('none of many runs is enqueued when one key belongs to another payload', async () => {
  const { producer, waiting } = setup()
  const id = await producer.enqueue(JOB, { n: -1 }, { idempotencyKey: 'k550' })
  for (const count of [551, 1_200]) {
    const payloads = Array.from({ length: count }, (_, n) => ({ n }))
    const options = { idempotencyKeys: payloads.map(({ n }) => `k${n}`) }
    await expect(producer.enqueueMany(JOB, payloads, options)).rejects.toMatchObject({
      index: 550,
      runId: id,
      message: expect.stringContaining('idempotencyKeys.550 ("k550")'),
    })
  }
  const twice = producer.enqueueMany(JOB, [{ n: 1 }, { n: 2 }], { idempotencyKeys: ['x', 'x'] })
  await expect(twice).rejects.toMatchObject({ index: 1, field: 'idempotencyKey' })
  expect(await waiting()).toEqual([id])
})

test('runs of several queues are sent together, and each is told whether it was there', async () => {
  const { producer, redis, prefix } = setup()
  const print = { name: 'page.print', queue: 'pages' }
  const requests = [
    { job: JOB, payload: 1, options: { idempotencyKey: 'a' } },
    { job: print, payload: 2 },
    { job: JOB, payload: 3 },
  ]
  const first = await producer.send(requests)
  expect(first.map(({ existing }) => existing)).toEqual([false, false, false])
  expect(await redis.llen(keys.bullKey(prefix, 'pages', 'wait'))).toBe(1)
  const again = await producer.send(requests)
  expect(again.map(({ existing }) => existing)).toEqual([true, false, false])
  expect(again[0]?.id).toBe(first[0]?.id)
})

test('a script cache that was emptied keeps no run from its queue', async () => {
  await using own = await startTestRedis({ appendonly: 'no' })
  const { producer, redis, waiting } = setup(own.url)
  await producer.enqueue(JOB, {}, { idempotencyKey: 'before' })
  await redis.script('FLUSH')
  await producer.enqueue(JOB, {}, { idempotencyKey: 'after' })
  expect(await waiting()).toHaveLength(2)
})

test('a message that Redis cannot take leaves its key free', async () => {
  const { producer, redis, bull, waiting } = setup()
  await redis.set(bull('wait'), 'no list')
  const options = { idempotencyKey: 'k' }
  await expect(producer.enqueue(JOB, {}, options)).rejects.toThrow('WRONGTYPE')
  await redis.del(bull('wait'))
  const id = await producer.enqueue(JOB, {}, options)
  expect(await waiting()).toEqual([id])
})

test('a key that comes with a known id, or an id with a known key, belongs to that run from then on', async () => {
  const { producer, waiting, redis, prefix } = setup()
  const [id, other] = [ownId(), ownId()]
  await producer.enqueue(JOB, {}, { id })
  expect(await producer.enqueue(JOB, {}, { id, idempotencyKey: 'k' })).toBe(id)
  expect(await producer.enqueue(JOB, {}, { idempotencyKey: 'k' })).toBe(id)
  expect(await producer.enqueue(JOB, {}, { id: other, idempotencyKey: 'k' })).toBe(id)
  expect(await producer.enqueue(JOB, {}, { id: other })).toBe(id)
  expect(await waiting()).toEqual([id])
  for (const [key, hours] of [
    [keys.idempotencyClaimKey(prefix, 'mails', { job: JOB.name, key: 'k' }), 24],
    [keys.idClaimKey(prefix, 'mails', other), 25],
  ] as const) {
    const leftMs = await redis.pttl(key)
    expect(leftMs).toBeGreaterThan((hours - 1) * HOUR)
    expect(leftMs).toBeLessThanOrEqual(hours * HOUR)
  }
  const payloads = [{ n: 1 }, { n: 1 }]
  const options = { ids: [ownId(), ownId()], idempotencyKeys: ['both', 'both'] }
  const ids = await producer.enqueueMany(JOB, payloads, options)
  expect(ids[1]).toBe(ids[0])
  expect(await producer.enqueue(JOB, { n: 1 }, { id: options.ids[1] ?? '' })).toBe(ids[0])
})
