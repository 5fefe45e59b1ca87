import { keys, openRedis, workerConnection } from '@jadwal/queue'
import { startTestRedis } from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import {
  createClient,
  defineJob,
  type EnqueueOptions,
  InvalidRunError,
  newRunId,
} from '../src/index.ts'

const sendEmail = defineJob({
  name: 'email.send',
  queue: 'emails',
  payload: z.object({
    to: z.email(),
    copies: z.int().default(1),
    at: z.string().transform((text) => new Date(text)),
  }),
  handler: () => 'sent',
})
const payload = { to: 'ops@example.com', at: '2026-09-01T10:00:00Z' }

function key(part: string): string {
  return keys.bullKey('jadwal', 'emails', part)
}

async function setup() {
  const server = await startTestRedis()
  const redis = openRedis(workerConnection(server.url), () => {})
  const client = createClient({ redisUrl: server.url })
  return {
    server,
    client,
    waiting: () => redis.llen(key('wait')),
    delayed: () => redis.zcard(key('delayed')),
    async message(id: string): Promise<Record<string, string | undefined>> {
      return await redis.hgetall(key(id))
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      redis.disconnect()
      await server[Symbol.asyncDispose]()
    },
  }
}

test('a run is in its queue under the id that is returned, its payload as it was given', async () => {
  await using jadwal = await setup()
  const id = await jadwal.client.enqueue(sendEmail, payload, { attempts: 7, priority: 3 })
  const message = await jadwal.message(id)
  expect(message['name']).toBe('email.send')
  expect(message['priority']).toBe('3')
  expect(JSON.parse(message['data'] ?? '')).toMatchObject({ v: 1, payload, attempts: 7 })
})

test('many runs come back as ids in the order of their payloads', async () => {
  await using jadwal = await setup()
  const payloads = [payload, { ...payload, copies: 2 }, { ...payload, copies: 3 }]
  const ids = await jadwal.client.enqueueMany(sendEmail, payloads)
  expect(await jadwal.waiting()).toBe(3)
  for (const [at, id] of ids.entries()) {
    const message = await jadwal.message(id)
    expect(JSON.parse(message['data'] ?? '')).toMatchObject({ payload: payloads[at] })
  }
})

test('a payload that breaks the schema is refused with its place, and nothing is sent', async () => {
  await using jadwal = await setup()
  const bad = jadwal.client.enqueueMany(sendEmail, [payload, { ...payload, to: 'nobody' }])
  await expect(bad).rejects.toMatchObject({
    name: 'InvalidRunError',
    message: expect.stringContaining('payload of email.send: to ("nobody"): Invalid email'),
  })
  expect(await jadwal.waiting()).toBe(0)
})

test('a reference to a secret stands where a text belongs', async () => {
  await using jadwal = await setup()
  const secret = { ...payload, to: { secret: 'OPS_ADDRESS' } }
  const id = await jadwal.client.enqueue(sendEmail, secret)
  const message = await jadwal.message(id)
  expect(JSON.parse(message['data'] ?? '')).toMatchObject({ payload: secret })
})

test('an option out of its range is refused', async () => {
  await using jadwal = await setup()
  const bad = jadwal.client.enqueue(sendEmail, payload, { priority: 1_001 })
  await expect(bad).rejects.toThrow('options of email.send: priority (1001): ')
})

test('a run is due within 5 years, or nothing is sent', async () => {
  await using jadwal = await setup()
  const late = (options: EnqueueOptions) => jadwal.client.enqueue(sendEmail, payload, options)
  await expect(late({ delayMs: 1e16 })).rejects.toThrow(
    /^options of email\.send: delayMs \(10000000000000000\): must be at most \d+ \(5 years\)$/,
  )
  await expect(late({ runAt: new Date('2039-10-01T00:00:00Z') })).rejects.toThrow(
    'options of email.send: runAt ("2039-10-01T00:00:00.000Z"): must be within 5 years',
  )
  const many = jadwal.client.enqueueMany(sendEmail, [payload], { delayMs: 1e16 })
  await expect(many).rejects.toMatchObject({ name: 'InvalidRunError' })
  expect(await jadwal.waiting()).toBe(0)
  expect(await jadwal.delayed()).toBe(0)
  await late({ delayMs: 4 * 365 * 86_400_000 })
  expect(await jadwal.delayed()).toBe(1)
})

test('a run waits until its instant, whatever delay stands beside it', async () => {
  await using jadwal = await setup()
  const runAt = new Date(Date.now() + 3 * 86_400_000)
  const id = await jadwal.client.enqueue(sendEmail, payload, { runAt, delayMs: 60_000 })
  const { delay, timestamp } = await jadwal.message(id)
  expect(Number(timestamp) + Number(delay)).toBe(runAt.getTime())
  const past = await jadwal.client.enqueue(sendEmail, payload, {
    runAt: new Date(0),
    delayMs: 60_000,
  })
  expect(await jadwal.message(past)).toMatchObject({ delay: '0' })
  expect(await jadwal.delayed()).toBe(1)
  expect(await jadwal.waiting()).toBe(1)
})

test('without Redis a call fails within seconds instead of waiting', async () => {
  await using jadwal = await setup()
  await jadwal.server.kill()
  const sent = jadwal.client.enqueue(sendEmail, payload)
  await expect(sent).rejects.toMatchObject({ name: 'RedisUnavailableError' })
})

test('a call that is repeated with its id or its key is one run, and another payload is refused', async () => {
  await using jadwal = await setup()
  const { client } = jadwal
  const id = newRunId()
  expect(await client.enqueue(sendEmail, payload, { id })).toBe(id)
  expect(await client.enqueue(sendEmail, payload, { id: id.toUpperCase() })).toBe(id)
  const once = { idempotencyKey: 'order-1' }
  const keyed = await client.enqueue(sendEmail, payload, once)
  const options = { ids: [newRunId(), id], idempotencyKeys: ['order-1', 'order-2'] }
  expect(await client.enqueueMany(sendEmail, [payload, payload], options)).toEqual([keyed, id])
  expect(await jadwal.waiting()).toBe(2)
  const other = client.enqueue(sendEmail, { ...payload, copies: 3 }, once)
  await expect(other).rejects.toMatchObject({
    name: 'IdempotencyConflictError',
    code: 'IDEMPOTENCY_CONFLICT',
    runId: keyed,
  })
})

test('a payload limit of one’s own is kept, and its error says where to change it', async () => {
  await using jadwal = await setup()
  const client = createClient({ redisUrl: jadwal.server.url, maxPayloadBytes: 2_000_000 })
  onTestFinished(() => client.close())
  const large = { ...payload, at: 'x'.repeat(1_000_000) }
  await client.enqueue(sendEmail, large)
  await expect(jadwal.client.enqueue(sendEmail, large)).rejects.toThrow(
    /^payload: 10000\d\d bytes as JSON, at most 524288 are allowed: .*maxPayloadBytes of createClient/,
  )
})

const dayOld = '01900000-0000-7000-8000-000000000000'
test.each<[object, RegExp]>([
  [{ idempotencyKey: '' }, /options of email\.send: idempotencyKey \(""\): /],
  [{ idempotencyKey: 'k'.repeat(201) }, /idempotencyKey \("k+"\): .*<=200/],
  [{ idempotencyKey: 5 }, /idempotencyKey \(5\): .*expected string/],
  [{ id: 'order-1' }, /id \("order-1"\): must be a UUIDv7: make one with newRunId\(\)/],
  [{ id: dayOld }, /id \("01900000.*"\): must be at most a day old/],
  [{ id: dayOld.replace('019', 'f19') }, /must not be of the future/],
  [{ follow: 'yes' }, /follow \("yes"\): .*expected boolean/],
  [{ delay: 5 }, /delay/],
])('the options %j are refused, with field, value and what is right', async (options, message) => {
  const client = createClient({ redisUrl: 'redis://127.0.0.1:1' })
  onTestFinished(() => client.close())
  await expect(client.enqueue(sendEmail, payload, options)).rejects.toThrow(message)
})

const circle: Record<string, unknown> = {}
circle['self'] = circle
const anything = defineJob({ name: 'any', queue: 'any', payload: z.unknown(), handler: () => 'x' })
const throwing = {
  toJSON(): never {
    throw new Error('no words')
  },
}
test.each<[string, unknown, RegExp]>([
  [
    'a circle',
    circle,
    /must be something that JSON can say: Converting circular structure to JSON$/,
  ],
  ['a BigInt', { n: 5n }, /must be something that JSON can say: .*BigInt/],
  ['a toJSON that throws', throwing, /must be something that JSON can say: no words$/],
  ['a function', () => 5, /must be something that JSON can say: a function$/],
])('%s is no payload', async (_what, given, message) => {
  const client = createClient({ redisUrl: 'redis://127.0.0.1:1' })
  onTestFinished(() => client.close())
  for (const call of [
    client.enqueue(anything, given),
    client.enqueue(anything, given, { id: newRunId() }),
    client.enqueueMany(anything, [1, given]),
  ]) {
    const error = await call.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(InvalidRunError)
    expect(error).toMatchObject({ message: expect.stringMatching(message) })
  }
  await expect(client.enqueueMany(anything, [1, given])).rejects.toThrow(/^payloads\.1: /)
})

test.each<[unknown, RegExp]>([
  [undefined, /^job \(undefined\): must be what defineJob returned/],
  ['email.send', /^job \(email\.send\): must be what defineJob returned/],
  [{ name: 'email.send', queue: 'emails' }, /^job: payload: must be a zod schema/],
  [{ ...sendEmail, queue: 'ticks' }, /^job: queue \("ticks"\): is reserved/],
  [{ ...sendEmail, name: 'E mail' }, /^job: name \("E mail"\): must match/],
])('the job %j is refused', async (job, message) => {
  const client = createClient({ redisUrl: 'redis://127.0.0.1:1' })
  onTestFinished(() => client.close())
  for (const call of [
    client.enqueue(job as never, payload),
    client.enqueueMany(job as never, [payload]),
  ])
    await expect(call).rejects.toMatchObject({
      name: 'InvalidRunError',
      message: expect.stringMatching(message),
    })
})

test('payloads that are no list are refused', async () => {
  const client = createClient({ redisUrl: 'redis://127.0.0.1:1' })
  onTestFinished(() => client.close())
  const many = (given: unknown) => client.enqueueMany(sendEmail, given as never)
  await expect(many(5)).rejects.toThrow(/^payloads \(5\): must be a list/)
  await expect(many(payload)).rejects.toThrow(
    /^payloads \(a value of type object\): must be a list/,
  )
})

test('a client that is closed says so', async () => {
  await using jadwal = await setup()
  const { client } = jadwal
  const id = await client.enqueue(sendEmail, payload)
  await client.close()
  const closed = { name: 'ClientClosedError', code: 'CLIENT_CLOSED' }
  await expect(client.enqueue(sendEmail, payload)).rejects.toMatchObject(closed)
  await expect(client.enqueueMany(sendEmail, [payload])).rejects.toMatchObject(closed)
  expect(() => client.run(id)).toThrow('the client is closed')
})

test('what is given for each of many must be given for each of them', async () => {
  const client = createClient({ redisUrl: 'redis://127.0.0.1:1' })
  onTestFinished(() => client.close())
  const many = client.enqueueMany(sendEmail, [payload, payload], { ids: [newRunId()] })
  await expect(many).rejects.toThrow('ids: has 1 for 2 payloads: must have one for each')
})

test.each<[object, RegExp]>([
  [{ redisUrl: 'http://cache' }, /redisUrl: must be redis:\/\/host:port/],
  [{ maxPayloadBytes: 17_000_000 }, /maxPayloadBytes \(17000000\): .*<=16777216/],
  [{ api: { url: 'jobs' } }, /api\.url \("jobs"\): must be the address of the api/],
  [{ prefix: 'a:b' }, /prefix \("a:b"\): must match/],
])('a client of %j is not opened', (options, message) => {
  expect(() => createClient({ redisUrl: 'redis://127.0.0.1:1', ...options })).toThrow(message)
})

test('what is no id of a run cannot be followed', () => {
  const client = createClient({ redisUrl: 'redis://127.0.0.1:1' })
  onTestFinished(() => client.close())
  expect(() => client.run('order-1')).toThrow('run id ("order-1"): must be what enqueue returned')
})
