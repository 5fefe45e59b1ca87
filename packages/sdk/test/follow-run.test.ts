import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { cancelRun, keys } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openBench } from '../../queue/test/run-bench.ts'
import {
  type ApiAccess,
  createClient,
  defineJob,
  newRunId,
  NotEndedError,
  UnknownRunError,
} from '../src/index.ts'

const sendEmail = defineJob({
  name: 'email.send',
  queue: 'emails',
  payload: z.object({ to: z.string() }),
  handler: () => 'sent',
})
const PAYLOAD = { to: 'ana@example.com' }
const SENT = { kind: 'succeeded', result: '{"sent":[],"payload":{"a":1}}' } as const

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(() => server[Symbol.asyncDispose]())

function setup(api?: ApiAccess) {
  const bench = openBench(server.url)
  const { prefix, redis } = bench
  const open = () => {
    const client = createClient({ redisUrl: server.url, prefix, ...(api ? { api } : {}) })
    onTestFinished(() => client.close())
    return client
  }
  onTestFinished(() => bench[Symbol.asyncDispose]())
  return {
    ...bench,
    work: (...args: Parameters<typeof bench.work>) => bench.work(...args),
    client: open(),
    open,
    /** The history has all facts. */
    record: () => redis.del(keys.outboxKey(prefix, 'emails')),
    hasMessage: async (id: string) => (await redis.exists(bench.messageKey(id))) === 1,
    followed: () => redis.zrange(keys.followedKey(prefix, 'emails'), 0, -1),
  }
}

test('who follows a run is told its end as soon as it is written, with result and without leftovers', async () => {
  const { client, open, work, followed } = setup()
  const id = await client.enqueue(sendEmail, PAYLOAD)
  const ends = [client, client, open()].map((each) => each.run(id).end({ timeoutMs: 60_000 }))
  await eventually(async () => expect(await followed()).toEqual([id]))
  work(() => SENT)
  const end = { id, state: 'succeeded', result: { sent: [], payload: { a: 1 } } }
  expect(await Promise.all(ends)).toEqual([end, end, end])
  expect(await followed()).toEqual([])
})

test('a run that is dead has ended, with reason and error, and one that is to be retried has not', async () => {
  const { client, work, calls } = setup()
  const id = await client.enqueue(sendEmail, PAYLOAD)
  const error = { name: 'Error', message: 'no such mailbox' }
  work(({ attempt }) =>
    attempt === 1
      ? { kind: 'retry', error, delayMs: 1 }
      : { kind: 'dead', reason: 'failed', error },
  )
  const end = await client.run(id).end({ timeoutMs: 60_000 })
  expect(end).toEqual({ id, state: 'dead', reason: 'failed', error })
  expect(calls).toHaveLength(2)
})

test('a run that is cancelled while it waits has ended', async () => {
  const { client, redis, prefix, followed } = setup()
  const id = await client.enqueue(sendEmail, PAYLOAD, { delayMs: 3_600_000 })
  const end = client.run(id).end({ timeoutMs: 60_000 })
  await eventually(async () => expect(await followed()).toEqual([id]))
  const nowIso = new Date(Date.now()).toISOString()
  await cancelRun({ redis, prefix, nowIso }, { queue: 'emails', id }, 'cancelled')
  expect(await end).toEqual({ id, state: 'cancelled', reason: 'cancelled' })
})

test('a run that was enqueued to be followed is told of after it has ended and was recorded', async () => {
  const { client, work, hasMessage, record } = setup()
  const id = await client.enqueue(sendEmail, PAYLOAD, { follow: true })
  const plain = await client.enqueue(sendEmail, PAYLOAD)
  work(() => SENT)
  await eventually(async () => {
    expect(await hasMessage(id)).toBe(false)
    expect(await hasMessage(plain)).toBe(false)
  })
  await record()
  expect(await client.run(id).end()).toMatchObject({ id, state: 'succeeded' })
  expect(await client.run(id).read()).toMatchObject({ job: 'email.send', state: 'succeeded' })
  expect(await client.run(plain).read()).toBeUndefined()
  await expect(client.run(plain).end()).rejects.toThrow(UnknownRunError)
})

test('the end of a run that nobody followed is found on its way to the history', async () => {
  const { client, work, hasMessage } = setup()
  const id = await client.enqueue(sendEmail, PAYLOAD)
  work(() => SENT)
  await eventually(async () => expect(await hasMessage(id)).toBe(false))
  expect(await client.run(id).end()).toMatchObject({ state: 'succeeded' })
})

test('the api is asked last, and asked again while it is in trouble', async () => {
  const answers = [503, 404, 408, 429, 502, 200]
  const asked: unknown[] = []
  const api = createServer((req, res) => {
    asked.push([req.url, req.headers.authorization])
    const run = { id: 'x', job: 'email.send', queue: 'emails', state: 'dead', reason: 'lost' }
    res.writeHead(answers[asked.length - 1] ?? 200).end(JSON.stringify(run))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void api.close())
  await once(api, 'listening')
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`
  const { client, open } = setup({ url, token: 'secret-token' })
  await client.enqueue(sendEmail, PAYLOAD)
  const id = newRunId()
  await expect(client.run(id).read()).rejects.toMatchObject({ code: 'HISTORY_UNAVAILABLE' })
  await expect(client.run(id).end()).rejects.toThrow(/neither Redis nor the history/)
  expect(await open().run(id).end()).toMatchObject({ state: 'dead', reason: 'lost' })
  expect(asked[0]).toEqual([`/api/v1/runs/${id}`, 'Bearer secret-token'])
  expect(asked).toHaveLength(answers.length)
}, 60_000)

test('an api that refuses to answer ends the wait', async () => {
  const api = createServer((_req, res) => void res.writeHead(401).end('{}'))
  api.listen(0, '127.0.0.1')
  onTestFinished(() => void api.close())
  await once(api, 'listening')
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
  const { client } = setup({ url })
  await client.enqueue(sendEmail, PAYLOAD)
  await expect(client.run(newRunId()).end()).rejects.toMatchObject({
    code: 'HISTORY_UNAVAILABLE',
    message: expect.stringContaining('answered with 401'),
    mayPass: false,
  })
})

test('a wait ends at its time, or with its signal; the run goes on', async () => {
  const { client } = setup()
  const id = await client.enqueue(sendEmail, PAYLOAD)
  const late = client.run(id).end({ timeoutMs: 50 })
  await expect(late).rejects.toThrow(NotEndedError)
  await expect(late).rejects.toThrow(`run ${id} has not ended within 50 ms; it goes on`)
  const stop = new AbortController()
  const stopped = client.run(id).end({ signal: stop.signal })
  stop.abort(new Error('the user went away'))
  await expect(stopped).rejects.toThrow('the user went away')
  expect(await client.run(id).read()).toMatchObject({ id, state: 'queued', queue: 'emails' })
})

test('a client that is closed lets go of who waits', async () => {
  const { client, followed } = setup()
  const id = await client.enqueue(sendEmail, PAYLOAD)
  const end = client.run(id).end()
  await eventually(async () => expect(await followed()).toEqual([id]))
  await Promise.all([client.close(), expect(end).rejects.toThrow('the client is closed')])
})

test('nothing is kept for those who went away', async () => {
  const { client, redis, prefix } = setup()
  const followed = keys.followedKey(prefix, 'emails')
  const id = await client.enqueue(sendEmail, PAYLOAD, { follow: true, delayMs: 60_000 })
  expect(await redis.pttl(followed)).toBeGreaterThan(10 * 60_000)
  await redis.zadd(followed, 1, newRunId())
  await expect(client.run(id).end({ timeoutMs: 0 })).rejects.toThrow(NotEndedError)
  expect(await redis.zrange(followed, 0, -1)).toEqual([id])
})

test('a run is followed through a restart of Redis', async () => {
  const { client, work, followed } = setup()
  const id = await client.enqueue(sendEmail, PAYLOAD)
  const end = client.run(id).end({ timeoutMs: 60_000 })
  await eventually(async () => expect(await followed()).toEqual([id]))
  await server.kill()
  await server.start()
  work(() => SENT)
  expect(await end).toMatchObject({ id, state: 'succeeded' })
}, 60_000)
