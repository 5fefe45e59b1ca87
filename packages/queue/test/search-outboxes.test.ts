import { randomBytes, randomUUID } from 'node:crypto'
import { revision, type RunFact } from '@jadwal/domain'
import { findRunInRedis, keys, openRedis, workerConnection } from '@jadwal/queue'
import { startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

/** Its own: entries of megabytes would keep others waiting. */
let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis({ appendonly: 'no' })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

function setup() {
  const redis = openRedis(workerConnection(server.url), () => undefined)
  const prefix = `t${randomBytes(4).toString('hex')}`
  const outbox = (queue: string): string => keys.outboxKey(prefix, queue)
  onTestFinished(async () => {
    await redis.unlink(outbox('a'), outbox('b'))
    redis.disconnect()
  })
  const put = async (queue: string, ...entries: string[]): Promise<void> => {
    const pipeline = redis.pipeline()
    for (const entry of entries) pipeline.xadd(outbox(queue), '*', 'facts', entry)
    await pipeline.exec()
  }
  const find = async (id: string, ...queues: string[]) =>
    (await findRunInRedis(redis, prefix, { queues, id }))?.state
  return { put, find }
}

function fact(id: string, state: 'running' | 'succeeded'): string {
  return JSON.stringify({
    kind: 'run',
    id,
    revision: revision(1, state),
    state,
    job: 'email.send',
    queue: 'a',
    payload: {},
    enqueued_at: '2026-09-01T12:00:00.000Z',
    attempt: 1,
    result: null,
  } satisfies RunFact)
}

const small = (count: number): string[] => Array.from({ length: count }, () => '{}')

test('in the one outbox in question a fact is found deep in a backlog, the highest of several', async () => {
  const { put, find } = setup()
  const id = randomUUID()
  await put('a', `${fact(id, 'succeeded')}\n{}`, fact(id, 'running'), ...small(1_500))
  expect(await find(id, 'a')).toBe('succeeded')
  await put('a', ...small(1_000))
  expect(await find(id, 'a')).toBeUndefined()
})

test('of several outboxes each is looked through a little', async () => {
  const { put, find } = setup()
  const [near, deep] = [randomUUID(), randomUUID()]
  await put('a', fact(deep, 'succeeded'), ...small(300))
  await put('b', fact(near, 'succeeded'), ...small(50))
  expect(await find(near, 'a', 'b')).toBe('succeeded')
  expect(await find(deep, 'a', 'b')).toBeUndefined()
})

test('of large entries only so many are read', async () => {
  const { put, find } = setup()
  const id = randomUUID()
  const large = Array.from({ length: 40 }, () => 'x'.repeat(1024 * 1024))
  await put('a', fact(id, 'succeeded'), ...large)
  expect(await find(id, 'a')).toBeUndefined()
})
