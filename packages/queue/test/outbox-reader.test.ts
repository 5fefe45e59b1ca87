import { randomBytes } from 'node:crypto'
import { keys, openRedis, OutboxReader, registerQueues, workerConnection } from '@jadwal/queue'
import { startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const MIB = 1024 * 1024

/** Its own: entries of megabytes would keep others waiting. */
let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis({ appendonly: 'no' })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

function open() {
  const redis = openRedis(workerConnection(server.url), () => undefined)
  onTestFinished(() => redis.disconnect())
  return redis
}

async function setup(queues: string[]) {
  const redis = open()
  const prefix = `t${randomBytes(4).toString('hex')}`
  await registerQueues(redis, prefix, queues)
  const outboxes = queues.map((queue) => keys.outboxKey(prefix, queue))
  onTestFinished(async () => void (await redis.unlink(...outboxes)))
  const openReader = async (consumer: string) => {
    const reader = new OutboxReader({ redis, blocking: open(), prefix, consumer })
    await reader.findOutboxes()
    return reader
  }
  const put = async (queue: string, entry: { count: number; text: number }) => {
    const pipeline = redis.pipeline()
    for (let at = 0; at < entry.count; at += 1)
      pipeline.xadd(keys.outboxKey(prefix, queue), '*', 'facts', 'x'.repeat(entry.text))
    await pipeline.exec()
  }
  return { openReader, put }
}

test('the larger the entries, the fewer a read brings', async () => {
  const { openReader, put } = await setup(['emails'])
  const reader = await openReader('a')
  await put('emails', { count: 60, text: MIB })
  const sizes: number[] = []
  for (let entries = await reader.read(); entries.length > 0; entries = await reader.read())
    sizes.push(entries.length)
  expect(sizes).toEqual([32, 8, 8, 8, 4])
})

test('reads grow with small entries, and at most twofold', async () => {
  const { openReader, put } = await setup(['emails'])
  const reader = await openReader('a')
  await put('emails', { count: 3_000, text: 2 })
  const sizes: number[] = []
  for (let entries = await reader.read(); entries.length > 0; entries = await reader.read())
    sizes.push(entries.length)
  expect(sizes.slice(0, 7)).toEqual([32, 64, 128, 256, 512, 1_000, 1_000])
})

test('several outboxes that are full share what a read brings', async () => {
  const queues = ['a', 'b', 'c', 'd']
  const { openReader, put } = await setup(queues)
  const reader = await openReader('a')
  for (const queue of queues) await put(queue, { count: 12, text: MIB / 2 })
  await reader.read()
  for (const queue of queues) await put(queue, { count: 12, text: MIB / 2 })
  expect(await reader.read()).toHaveLength(16)
})

test('what a reader left is taken over outbox by outbox, a bounded number at a time', async () => {
  const { openReader, put } = await setup(['a', 'b'])
  const dead = await openReader('dead')
  const other = await openReader('other')
  await put('a', { count: 32, text: 2 })
  await put('b', { count: 1, text: 2 })
  await dead.read()
  await put('a', { count: 8, text: 2 })
  await dead.read()
  const claimed: number[] = []
  for (;;) {
    const entries = await other.claimAbandoned(0)
    if (entries.length === 0) break
    claimed.push(entries.length)
    await other.acknowledge(entries)
  }
  expect(claimed).toEqual([32, 8, 1])
})
