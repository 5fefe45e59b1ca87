import { appendEvents, appendRunEvents, areRunEventsWanted, keys } from '@jadwal/queue'
import { eventually, startTestRedis } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from './listen.ts'
import { setupApi, type TestApi } from './setup-api.ts'

const AT = '2026-11-30T06:00:00.000Z'
/** What a busy machine may add to a promised time. */
const BUSY_MS = 5_000

async function setup(env: Record<string, string> = {}): Promise<TestApi> {
  const api = await setupApi(env)
  onTestFinished(() => api[Symbol.asyncDispose]())
  return api
}

async function raise(api: TestApi, ...jobs: string[]): Promise<void> {
  const events = jobs.map((job) => {
    return { type: 'run.dead' as const, at: AT, data: { job, queue: 'emails', id: job } }
  })
  await appendEvents(api.redis, api.prefix, events)
}

function tell({ redis, prefix }: Pick<TestApi, 'redis' | 'prefix'>, job: string): Promise<void> {
  return appendRunEvents(redis, prefix, [{ type: 'run.succeeded', at: AT, data: { job } }])
}

const jobsOf = (heard: readonly { data: { job: string } }[]) => heard.map(({ data }) => data.job)

test('a client hears what happens from now on, unpacked and with ids', async () => {
  const api = await setup()
  await raise(api, 'before')
  const { res, until } = await listen(api)
  expect(res.status).toBe(200)
  expect(res.headers.get('content-type')).toContain('text/event-stream')
  expect(res.headers.get('content-encoding')).toBeNull()
  await raise(api, 'after')
  const [event] = await until(1)
  expect(event).toMatchObject({ type: 'run.dead', data: { at: AT, job: 'after' } })
  expect(event?.id).toMatch(/^\d+-\d+_\d+-\d+$/)
})

test('types, job, queue and schedule choose', async () => {
  const api = await setup()
  const byJob = await listen(api, '?types=run.*&job=b')
  const byType = await listen(api, '?types=tick.late,queue.*&queue=emails')
  const bySchedule = await listen(api, '?schedule=nightly')
  await raise(api, 'a', 'b', 'c')
  await appendEvents(api.redis, api.prefix, [
    { type: 'queue.paused', at: AT, data: { queue: 'emails' } },
    { type: 'queue.paused', at: AT, data: { queue: 'reports' } },
    { type: 'schedule.changed', at: AT, data: { schedules: ['hourly', 'nightly'] } },
  ])
  await raise(api, 'b')
  expect(jobsOf(await byJob.until(2))).toEqual(['b', 'b'])
  expect((await byType.until(1)).map(({ type }) => type)).toEqual(['queue.paused'])
  expect((await bySchedule.until(1)).map(({ type }) => type)).toEqual(['schedule.changed'])
})

test('a client goes on behind the last event that it heard, by header or query, without a gap', async () => {
  const api = await setup()
  const first = await listen(api)
  await raise(api, 'a')
  const [event] = await first.until(1)
  first.leave()
  const missed = Array.from({ length: 1_200 }, (_, index) => `missed-${index}`)
  await raise(api, ...missed)
  const byHeader = await listen(api, '', { 'last-event-id': event?.id ?? '' })
  const byQuery = await listen(api, `?lastEventId=${event?.id}`)
  await raise(api, 'b')
  for (const { until } of [byHeader, byQuery])
    expect(jobsOf(await until(1_201))).toEqual([...missed, 'b'])
})

test('what is not kept any more is a gap', async () => {
  const api = await setup()
  const first = await listen(api)
  await raise(api, 'a')
  const [event] = await first.until(1)
  await raise(api, 'b', 'c')
  await api.redis.xtrim(keys.eventsKey(api.prefix), 'MAXLEN', 1)
  const { until } = await listen(api, '', { 'last-event-id': event?.id ?? '' })
  const heard = await until(2)
  expect(heard.map(({ type }) => type)).toEqual(['gap', 'run.dead'])
  expect(heard[0]?.data).toEqual({ reason: 'not-kept' })
})

test('what happens to runs is told only while somebody listens, and the time between is a gap', async () => {
  const api = await setupApi()
  const { prefix } = api
  await listen(api)
  expect(await areRunEventsWanted(api.redis, prefix)).toBe(false)
  const first = await listen(api, '?types=run.*')
  expect(await areRunEventsWanted(api.redis, prefix)).toBe(true)
  await tell(api, 'a')
  await raise(api, 'dead')
  const heard = await first.until(2)
  expect(heard.map(({ type }) => type).toSorted()).toEqual(['run.dead', 'run.succeeded'])
  await api[Symbol.asyncDispose]()
  const other = await setup({ JADWAL_PREFIX: prefix })
  await other.redis.del(keys.runEventsWantedKey(prefix))
  const again = await listen(other, '?types=run.*', { 'last-event-id': heard[1]?.id ?? '' })
  await tell({ redis: other.redis, prefix }, 'b')
  expect((await again.until(2)).map(({ type }) => type)).toEqual(['gap', 'run.succeeded'])
})

test('a client hears nothing more soon after its token is revoked, others go on', async () => {
  const api = await setup()
  const made = await api.ask('/api/v1/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'listener', role: 'viewer' }),
  })
  const revoked = await listen(api, '', { authorization: `Bearer ${made.body.token}` })
  expect(revoked.res.status).toBe(200)
  const other = await listen(api)
  await api.ask(`/api/v1/tokens/${made.body.id}`, { method: 'DELETE' })
  await revoked.ended
  await raise(api, 'a')
  expect(jobsOf(await other.until(1))).toEqual(['a'])
  expect(revoked.heard).toEqual([])
})

test('no more clients than allowed are let in, and one that left makes room', async () => {
  const api = await setup({ JADWAL_MAX_EVENT_STREAMS: '2' })
  const first = await listen(api)
  await listen(api)
  const refused = await api.ask('/api/v1/events')
  expect(refused.status).toBe(503)
  expect(refused.body.type).toBe('urn:jadwal:problem:too-many-streams')
  first.leave()
  await eventually(async () => {
    const { res, leave } = await listen(api)
    leave()
    expect(res.status).toBe(200)
  })
})

test.each([
  ['?types=run.born', 'types'],
  ['?types=', 'types'],
  ['?lastEventId=17', 'lastEventId'],
  ['?jobs=a', 'jobs'],
])('%s is refused', async (query, field) => {
  const api = await setup()
  const { status, body } = await api.ask(`/api/v1/events${query}`)
  expect(status).toBe(400)
  expect(body.errors[0].field).toBe(field)
  const bad = await api.ask('/api/v1/events', { headers: { 'last-event-id': 'x' } })
  expect(bad.status).toBe(400)
})

test('a stream outlives an outage of Redis and goes on', async () => {
  const server = await startTestRedis()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const api = await setup({ REDIS_URL: server.url })
  const { until, heard } = await listen(api)
  await raise(api, 'before')
  await until(1)
  await server.stop()
  const joined = await listen(api)
  await server.start()
  const other = new Redis(server.url)
  onTestFinished(() => other.disconnect())
  await raise({ ...api, redis: other }, 'after')
  await until(2)
  expect(jobsOf(heard)).toEqual(['before', 'after'])
  expect(jobsOf(await joined.until(1))).toEqual(['after'])
})

test('the end of the api ends its streams within a second', async () => {
  const api = await setupApi()
  const stream = await listen(api)
  const startedMs = performance.now()
  const disposed = api[Symbol.asyncDispose]()
  await stream.ended
  const endedMs = performance.now()
  // What else ends, such as the database, takes its time.
  await disposed
  expect(endedMs - startedMs).toBeLessThan(1_000 + BUSY_MS)
})
