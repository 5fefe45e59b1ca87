import { publishCatalogue } from '@jadwal/queue'
import { newToken } from '@jadwal/runtime'
import { eventually, inTime, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { describe, expect, inject, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { bearer } from './setup-access.ts'
import { setupApi, type TestApi } from './setup-api.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const RUN = { job: 'email.send', payload: { to: 'ana@example.com', template: 'bye' } }

async function setup(
  env: Record<string, string> = {},
  wayToDatabase?: (url: string) => string,
): Promise<TestApi> {
  const api = await setupApi(env, wayToDatabase)
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  return api
}

/** Answers and how long they took, in ms. */
async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
  const from = performance.now()
  const answer = await work
  return { answer, ms: performance.now() - from }
}

describe('without Redis', () => {
  test.each<[string, (redis: TestRedis) => Promise<void> | void, number]>([
    ['gone', (redis) => redis.stop(), 3_000],
    ['frozen', (redis) => redis.pause(), 8_000],
  ])(
    'that is %s, requests are answered soon and plainly',
    async (_how, take, withinMs) => {
      await using redis = await startTestRedis({ appendonly: 'no' })
      await using api = await setup({ REDIS_URL: redis.url })
      await take(redis)

      const enqueued = await inTime(withinMs, () => api.post(RUN))
      expect(enqueued.status).toBe(503)
      expect(enqueued.headers.get('retry-after')).toBe('2')
      expect(enqueued.body).toMatchObject({ type: 'urn:jadwal:problem:redis-unavailable' })

      expect((await api.ask('/healthz')).status).toBe(200)
      const ready = await api.ask('/readyz')
      expect(ready.status).toBe(503)
      const metrics = await inTime(withinMs, () => api.ask('/metrics'))
      expect(metrics.status).toBe(200)
      // What this process knows is told, what Redis would have to say is left out.
      const told = metrics.text.match(/^jadwal_\w+/gm) ?? []
      expect([...new Set(told)]).toEqual(['jadwal_sign_ins_total'])
      const readers = ['/api/v1/queues', '/api/v1/workers', '/api/v1/leader', '/api/v1/jobs']
      const read = await inTime(withinMs, () => Promise.all(readers.map((path) => api.ask(path))))
      expect(read.map(({ status }) => status)).toEqual([503, 503, 503, 503])
      expect((await api.ask('/api/v1/runs')).status).toBe(200)
      const page = await inTime(withinMs, () => api.ask('/'))
      expect(page.status).toBe(200)
      expect(page.text).toContain('Redis cannot be reached right now')
    },
    120_000,
  )

  test('that comes back, everything resumes by itself', async () => {
    await using redis = await startTestRedis()
    await using api = await setup({ REDIS_URL: redis.url })
    await redis.stop()
    expect((await api.post(RUN)).status).toBe(503)
    await redis.start()
    await eventually(async () => expect((await api.post(RUN)).status).toBe(202))
    await eventually(async () => expect((await api.ask('/readyz')).status).toBe(200))
    await eventually(async () => {
      expect((await api.ask('/queues/api/queues')).body.queues).toHaveLength(3)
    })
  })

  test('that is nearly full, runs are turned away until there is room', async () => {
    await using redis = await startTestRedis({ appendonly: 'no' })
    await using api = await setup({ REDIS_URL: redis.url })
    const waiting = (await api.post(RUN)).body.id
    const used = Number(/used_memory:(\d+)/.exec(await api.redis.info('memory'))?.[1])
    await api.redis.config('SET', 'maxmemory', Math.round(used * 1.3))
    await eventually(async () => {
      const refused = await api.post(RUN)
      expect(refused.status).toBe(503)
      expect(refused.body.type).toBe('urn:jadwal:problem:try-later')
      expect(refused.headers.get('retry-after')).toBe('10')
    })
    await api.redis.config('SET', 'maxmemory', 1)
    const cancelled = await api.ask(`/api/v1/runs/${waiting}/cancel`, { method: 'POST' })
    expect(cancelled.body).toMatchObject({ status: 503, type: 'urn:jadwal:problem:try-later' })
    await api.redis.config('SET', 'maxmemory', used * 10)
    await eventually(async () => expect((await api.post(RUN)).status).toBe(202))
  })
})

describe('without Postgres', () => {
  test.each<[string, (proxy: TcpProxy) => void]>([
    ['gone', (proxy) => proxy.cut()],
    ['frozen', (proxy) => proxy.freeze()],
  ])(
    'that is %s, history is a plain 503; runs go in and can be read',
    async (_how, take) => {
      await using proxy = await startTcpProxy(inject('postgresUrl'))
      const viewerToken = newToken()
      await using api = await setup({ JADWAL_VIEWER_TOKEN: viewerToken }, proxy.wayTo)
      expect((await api.ask('/api/v1/runs')).status).toBe(200)
      take(proxy)

      // The tokens of the environment are good all the same: Postgres knows nothing of them.
      const me = await api.ask('/api/v1/me', { headers: bearer(viewerToken) })
      expect(me.body).toMatchObject({ name: 'viewer', role: 'viewer' })

      const accepted = await api.post(RUN)
      expect(accepted.status).toBe(202)
      const run = await timed(api.ask(`/api/v1/runs/${accepted.body.id}`))
      expect(run.answer.body.state).toBe('queued')
      const paths = [
        '/api/v1/runs',
        '/api/v1/schedules',
        '/api/v1/leader/terms',
        '/api/v1/runs/0190a1b2-0000-7000-8000-000000000000',
      ]
      const asked = paths.map((path) => timed(api.ask(path)))
      for (const { answer, ms } of await Promise.all(asked)) {
        expect(answer.status).toBe(503)
        expect(answer.body.type).toBe('urn:jadwal:problem:history-unavailable')
        expect(ms).toBeLessThan(10_000)
      }
      const json = { 'content-type': 'application/json' }
      const schedule = { job: RUN.job, every: '1m', payload: RUN.payload }
      const changes = [
        ['PUT', '/api/v1/schedules/a', schedule],
        ['POST', '/api/v1/schedules/apply', { version: 1, schedules: { a: schedule } }],
        ['POST', '/api/v1/pause', {}],
      ] as const
      const refused = changes.map(([method, path, body]) =>
        timed(api.ask(path, { method, headers: json, body: JSON.stringify(body) })),
      )
      for (const { answer, ms } of await Promise.all(refused)) {
        expect(answer.status).toBe(503)
        expect(answer.body.type).toBe('urn:jadwal:problem:history-unavailable')
        // Two at a time get to ask, the third after them.
        expect(ms).toBeLessThan(15_000)
      }
      const ready = await api.ask('/readyz')
      expect(ready.status).toBe(503)
      const page = await timed(api.ask('/'))
      expect(page.answer.status).toBe(200)
      expect(page.answer.text).toContain('The history cannot be reached right now')
      expect(page.ms).toBeLessThan(10_000)

      proxy.resume()
      await eventually(async () => expect((await api.ask('/api/v1/runs')).status).toBe(200), {
        timeoutMs: 30_000,
      })
    },
    90_000,
  )
})
