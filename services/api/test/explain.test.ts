import { randomUUID } from 'node:crypto'
import { DEFAULT_FUSE, type WorkerInfo } from '@jadwal/domain'
import { keys, pauseQueue, publishCatalogue, publishHeartbeat, registerQueues } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi } from './setup-api.ts'

const QUEUE = 'emails'

async function setup() {
  const api = await setupApi()
  const { redis, prefix } = api
  await publishCatalogue(redis, prefix, [EMAIL_JOB])
  return Object.assign(api, {
    enqueue: async (more: object = {}): Promise<string> => {
      const payload = { to: 'ana@example.com', template: 'bye' }
      const { body } = await api.post({ job: EMAIL_JOB.name, payload, ...more })
      return body.id
    },
    /** As a worker does that lives. */
    beat: async (more: Partial<WorkerInfo> = {}) => {
      const now = new Date().toISOString()
      const worker: WorkerInfo = {
        instance: 'w-1',
        host: 'h',
        pid: 1,
        version: '1',
        startedAt: now,
        seenAt: now,
        state: 'running',
        queues: [{ name: QUEUE, concurrency: 2 }],
        running: [],
        runningCount: 0,
        memoryBytes: 1,
        ...more,
      }
      await publishHeartbeat(redis, prefix, worker)
    },
    explain: async (id: string) => {
      const { body, status } = await api.ask(`/api/v1/runs/${id}/explain`)
      expect(status).toBe(200)
      return body as { state: string; reasons: { kind: string; message: string; data: object }[] }
    },
    kinds: async (id: string): Promise<string[]> => {
      const { body } = await api.ask(`/api/v1/runs/${id}/explain`)
      return body.reasons.map(({ kind }: { kind: string }) => kind)
    },
    key: (part: string) => keys.bullKey(prefix, QUEUE, part),
  })
}

test('a run that could start is next, behind others it says how many', async () => {
  await using api = await setup()
  await api.beat()
  const first = await api.enqueue()
  const second = await api.enqueue()
  const last = await api.enqueue({ priority: 3 })
  expect(await api.kinds(first)).toEqual(['next'])
  const { reasons } = await api.explain(second)
  expect(reasons).toMatchObject([{ kind: 'behind-others', data: { atLeast: 1, atMost: 1 } }])
  expect((await api.explain(last)).reasons[0]?.data).toMatchObject({ atLeast: 2, priority: 3 })
})

test('a paused queue, a queue without a worker and a time to come are told in this order', async () => {
  await using api = await setup()
  const { redis, prefix } = api
  const at = '2026-09-01T10:00:00.000Z'
  await pauseQueue(redis, prefix, { queue: QUEUE, by: 'bo', at, reason: 'it moves' })
  const id = await api.enqueue({ delayMs: 3_600_000 })
  const { reasons } = await api.explain(id)
  expect(reasons.map(({ kind }) => kind)).toEqual(['queue-paused', 'no-worker', 'delayed'])
  expect(reasons[0]).toMatchObject({
    message: expect.stringContaining('by bo at 2026-09-01T10:00:00.000Z: it moves'),
    data: { queue: QUEUE, by: 'bo', at, reason: 'it moves' },
  })
  await api.beat({ state: 'draining' })
  expect((await api.explain(id)).reasons[1]?.data).toMatchObject({ draining: ['w-1'] })
})

test('a run behind more than are looked through lies between two numbers', async () => {
  await using api = await setup()
  await api.beat()
  const before = Array.from({ length: 10_050 }, () => randomUUID())
  await api.redis.lpush(api.key('wait'), ...before)
  const id = await api.enqueue()
  expect((await api.explain(id)).reasons[0]?.data).toMatchObject({
    atLeast: 10_050,
    atMost: 10_050,
  })
  await api.redis.lpush(api.key('wait'), ...before)
  expect((await api.explain(id)).reasons[0]?.data).toMatchObject({
    atLeast: 10_000,
    atMost: 20_100,
  })
})

test('busy workers, a used up rate and an open fuse are told', async () => {
  await using api = await setup()
  const { redis, prefix } = api
  await publishCatalogue(redis, prefix, [{ ...EMAIL_JOB, fuse: DEFAULT_FUSE }])
  await api.beat({ queues: [{ name: QUEUE, concurrency: 1, rate: { max: 2, perMs: 60_000 } }] })
  const id = await api.enqueue()
  await redis.lpush(api.key('active'), randomUUID())
  await redis.set(api.key('limiter'), '2', 'PX', 60_000)
  const openedAt = Date.parse('2026-09-01T10:00:00Z')
  await redis.hset(keys.fuseKey(prefix, QUEUE, EMAIL_JOB.name), {
    state: 'open',
    openedAt,
    until: openedAt + 30_000,
  })
  const { reasons } = await api.explain(id)
  expect(reasons.map(({ kind }) => kind)).toEqual(['workers-busy', 'rate-limited', 'fuse-open'])
  expect(reasons[2]?.data).toMatchObject({
    since: '2026-09-01T10:00:00.000Z',
    nextProbeAt: '2026-09-01T10:00:30.000Z',
  })
})

test('a message of another form, a job that workers do not know, and a cancel to come are told', async () => {
  await using api = await setup()
  await api.beat()
  const id = await api.enqueue()
  const message = api.key(id)
  const data = JSON.parse((await api.redis.hget(message, 'data')) ?? '') as object
  await api.redis.hset(message, { data: JSON.stringify({ ...data, v: 2 }) })
  expect((await api.explain(id)).reasons).toMatchObject([
    { kind: 'unknown-form', data: { form: 2 } },
  ])
  await api.redis.hset(message, { data: JSON.stringify(data), jo: '1:parked:0:1767225600000' })
  expect((await api.explain(id)).reasons).toMatchObject([
    { kind: 'unknown-job', data: { since: '2026-01-01T00:00:00.000Z', servedFrom: QUEUE } },
  ])
  await api.redis.hdel(message, 'jo')
  await publishCatalogue(api.redis, api.prefix, [{ ...EMAIL_JOB, queue: 'mails' }])
  expect((await api.explain(id)).reasons[0]?.data).toMatchObject({ servedFrom: 'mails' })
  await api.redis.hset(keys.cancelsKey(api.prefix, QUEUE), id, 'cancelled')
  expect(await api.kinds(id)).toEqual(['cancel-asked', 'unknown-job'])
})

test('of a run that is not there any more, and of one that never was, it tells so', async () => {
  await using api = await setup()
  const id = await api.enqueue()
  await api.ask(`/api/v1/runs/${id}/cancel`, { method: 'POST' })
  expect(await api.explain(id)).toMatchObject({
    state: 'cancelled',
    reasons: [{ kind: 'ended', data: { state: 'cancelled', reason: 'cancelled' } }],
  })
  expect((await api.ask(`/api/v1/runs/${randomUUID()}/explain`)).status).toBe(404)
  await registerQueues(api.redis, api.prefix, ['other'])
  expect((await api.ask('/api/v1/runs/nonsense/explain')).status).toBe(404)
})
