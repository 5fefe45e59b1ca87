import { keys, openRedis, workerConnection } from '@jadwal/queue'
import { startTestRedis } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createClient, defineJob } from '../src/index.ts'

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

test('without Redis a call fails within seconds instead of waiting', async () => {
  await using jadwal = await setup()
  await jadwal.server.kill()
  const sent = jadwal.client.enqueue(sendEmail, payload)
  await expect(sent).rejects.toMatchObject({ name: 'RedisUnavailableError' })
})
