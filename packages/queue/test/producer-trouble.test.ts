import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { newRunId } from '@jadwal/domain'
import { eventually, inTime, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createProducer, keys, RedisUnavailableError } from '../src/index.ts'

const JOB = { name: 'mail.send', queue: 'mails' }
/** A second of waiting, and what a busy machine may add: less than the 3 s of a command elsewhere. */
const SOON_MS = 2_800

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(() => server[Symbol.asyncDispose]())

function setup(url = server.url) {
  const prefix = `trouble-${randomUUID()}`
  const producer = createProducer({ url, prefix, onError: () => {} })
  const redis = new Redis(server.url)
  redis.on('error', () => {})
  onTestFinished(async () => {
    server.resume()
    await producer.close()
    redis.disconnect()
  })
  const waiting = async (): Promise<string[]> =>
    redis.lrange(keys.bullKey(prefix, 'mails', 'wait'), 0, -1)
  return { producer, redis, waiting }
}

/** Asserts that a call fails soon, and as Redis being away. */
async function expectSoon(call: () => Promise<unknown>): Promise<void> {
  await inTime(SOON_MS, async () => {
    await expect(call()).rejects.toThrow(RedisUnavailableError)
  })
}

const ownId = (): string => newRunId(Date.now(), randomBytes(10))

test('with a Redis that was stopped, each call fails in about a second, and none is carried out later', async () => {
  const { producer, waiting } = setup()
  const before = await producer.enqueue(JOB, {})
  await server.stop()
  await expectSoon(() => producer.enqueue(JOB, {}))
  await expectSoon(() => producer.enqueueMany(JOB, [1, 2], { idempotencyKeys: ['a', 'b'] }))
  await server.start()
  const after = await eventually(() => producer.enqueue(JOB, {}))
  expect(await waiting()).toEqual([after, before])
})

test('with a Redis that is frozen, a call fails in about a second; repeated with its id it is one run', async () => {
  const { producer, waiting } = setup()
  const id = ownId()
  // All that comes before a message is known by now, so that the message itself is on its way.
  await producer.enqueue(JOB, {}, { id: ownId() })
  await producer.enqueue(JOB, {})
  server.pause()
  await expectSoon(() => producer.enqueue(JOB, { n: 1 }, { id }))
  await expectSoon(() => producer.enqueue(JOB, {}))
  server.resume()
  await eventually(() => producer.enqueue(JOB, { n: 1 }, { id }))
  expect((await waiting()).filter((each) => each === id)).toEqual([id])
})

test('with a Redis that never was, a call fails in about a second and says why', async () => {
  const { producer } = setup('redis://127.0.0.1:1')
  await expectSoon(() => producer.enqueue(JOB, {}))
  await expect(producer.enqueue(JOB, {})).rejects.toThrow(/did not answer: .*ECONNREFUSED/)
})

test('many calls at once in an outage, or to a server that became a replica, warn of no leak', async () => {
  const warnings: string[] = []
  const hear = ({ name, message }: Error): void => {
    // Others of this process may have other ones.
    if (name === 'MaxListenersExceededWarning') warnings.push(message)
  }
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  const { producer, redis } = setup()
  const calls = async (): Promise<string[]> => {
    const tries = Array.from({ length: 30 }, () => producer.enqueue(JOB, {}))
    return (await Promise.allSettled(tries)).map(({ status }) => status)
  }
  await producer.enqueue(JOB, {})
  await redis.call('REPLICAOF', '127.0.0.1', '1')
  expect(await calls()).toContain('rejected')
  await redis.call('REPLICAOF', 'NO', 'ONE')
  await server.stop()
  expect(await calls()).toContain('rejected')
  await server.start()
  await eventually(() => producer.enqueue(JOB, {}))
  expect(warnings).toEqual([])
})

test('an event loop that stands still for two seconds fails no call', async () => {
  const { producer, waiting } = setup()
  const sent = producer.enqueue(JOB, {})
  const until = performance.now() + 2_000
  while (performance.now() < until);
  const id = await sent
  expect(await waiting()).toEqual([id])
})

test('a connection whose other side is gone unseen is made anew', async () => {
  const silent = new Set<number>()
  let connections = 0
  const proxy = createServer((near) => {
    const number = (connections += 1)
    const far = connect(server.port, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {})
    near.on('close', () => far.destroy())
    near.on('data', (chunk) => void (silent.has(number) || far.write(chunk)))
    far.on('data', (chunk) => void near.write(chunk))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void proxy.close())
  await once(proxy, 'listening')
  const { producer } = setup(`redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  await producer.enqueue(JOB, {})
  silent.add(1)
  await eventually(() => producer.enqueue(JOB, {}), { timeoutMs: 30_000 })
  expect(connections).toBe(2)
}, 60_000)

test('a plain run costs Redis one script, and leaves nothing beside its message', async () => {
  const { producer, redis } = setup()
  await producer.enqueue(JOB, {})
  await redis.config('RESETSTAT')
  await producer.enqueue(JOB, {})
  const stats = await redis.info('commandstats')
  expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('1')
  expect(stats).not.toMatch(/cmdstat_(get|set|sadd):/)
})
