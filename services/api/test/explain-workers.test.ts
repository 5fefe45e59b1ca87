import { fileURLToPath } from 'node:url'
import { openDatabase, recordFacts } from '@jadwal/db'
import { keys } from '@jadwal/queue'
import {
  eventually,
  type ServiceProcess,
  spawnService,
  startTestRedis,
  type TestRedis,
} from '@jadwal/testkit'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { Reason } from '../src/reason.ts'
import { setupApi } from './setup-api.ts'
import { watchCommands } from './watch-commands.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url))
const PATIENT = { timeoutMs: 60_000 }
vi.setConfig({ testTimeout: 240_000 })

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis({ appendonly: 'no' })
})
afterAll(async () => server[Symbol.asyncDispose]())

/** An api, and workers that are processes of their own. */
async function setup({ url } = server) {
  const api = await setupApi({ REDIS_URL: url })
  onTestFinished(() => api[Symbol.asyncDispose]())
  const send = async (method: string, path: string, body: object) =>
    await api.ask(`/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const read = async (id: string) => {
    const { status, body } = await api.ask(`/api/v1/runs/${id}/explain`)
    expect(status).toBe(200)
    return body as { state: string; reasons: Reason[] }
  }
  return {
    api,
    send,
    read,
    work: async (queues: string, jobs = 'waiting-jobs'): Promise<ServiceProcess> => {
      const worker = spawnService('worker', {
        REDIS_URL: url,
        JADWAL_PREFIX: api.prefix,
        JADWAL_JOBS: fixture(jobs),
        JADWAL_QUEUES: queues,
        JADWAL_LOCK_MS: '2000',
        JADWAL_GRACE_MS: '100',
      })
      onTestFinished(() => worker[Symbol.asyncDispose]())
      await worker.ready
      return worker
    },
    enqueue: async (job: string, more: object = {}): Promise<string> => {
      const { status, body } = await send('POST', '/runs', { job, payload: {}, ...more })
      expect([status, body]).toMatchObject([202, { id: expect.any(String) }])
      return body.id
    },
    /** Waits until a run has a reason of this kind, and gives that and the kinds of all. */
    reason: async (id: string, kind: string): Promise<{ reason: Reason; kinds: string[] }> => {
      return await eventually(async () => {
        const { reasons } = await read(id)
        const reason = reasons.find((each) => each.kind === kind)
        if (!reason) throw new Error(`${kind} is not among ${JSON.stringify(reasons)}`)
        return { reason, kinds: reasons.map((each) => each.kind) }
      }, PATIENT)
    },
  }
}

test('a run in hand, one whose key is taken, one that failed, and one behind busy workers', async () => {
  const { work, enqueue, reason } = await setup()
  const worker = await work('work:2')
  const payload = { key: 'tenant-7' }
  const holder = await enqueue('keyed', { payload })
  const { reason: running } = await reason(holder, 'running')
  expect(running.data).toMatchObject({ attempt: 1 })
  const parked = await enqueue('keyed', { payload })
  expect((await reason(parked, 'key-limit')).reason.data).toMatchObject({
    job: 'keyed',
    key: 'tenant-7',
    limit: 1,
    holders: [holder],
    atMost: 0,
  })
  const failed = await enqueue('fails')
  const { reason: retrying, kinds } = await reason(failed, 'retrying')
  expect(kinds).toEqual(['retrying'])
  expect(retrying.data).toMatchObject({ attempt: 1, until: expect.any(String) })
  await reason(await enqueue('hold'), 'running')
  const [first, second] = [await enqueue('hold'), await enqueue('hold')]
  expect((await reason(first, 'workers-busy')).kinds).toEqual(['workers-busy'])
  expect((await reason(second, 'behind-others')).kinds).toEqual(['behind-others', 'workers-busy'])
  await worker.stop()
  await reason(first, 'no-worker')
})

test('a run that is held until another of its schedule has ended', async () => {
  const { work, send, reason } = await setup()
  await work('work:5')
  const put = await send('PUT', '/schedules/nightly', {
    job: 'hold',
    cron: '0 3 * * *',
    timezone: 'Etc/UTC',
    overlap: 'queue-latest',
  })
  expect(put.status).toBe(201)
  const trigger = async (): Promise<string> =>
    (await send('POST', '/schedules/nightly/trigger', {})).body.id
  const first = await trigger()
  await reason(first, 'running')
  const second = await trigger()
  const { reason: overlap, kinds } = await reason(second, 'overlap')
  expect(kinds).toEqual(['overlap'])
  expect(overlap.data).toEqual({ count: 1, runs: [first] })
})

test('an open fuse and a used up rate', async () => {
  const { work, enqueue, read, reason } = await setup()
  await work('work:2,rated:2@1/h')
  await enqueue('partner')
  await enqueue('partner')
  await eventually(async () => {
    const { reasons } = await read(await enqueue('partner'))
    const fuse = reasons.find(({ kind }) => kind === 'fuse-open')
    expect(fuse?.data).toMatchObject({ job: 'partner', nextProbeAt: expect.any(String) })
  }, PATIENT)
  await enqueue('rated')
  const { reason: rate } = await reason(await enqueue('rated'), 'rate-limited')
  expect(rate.data).toMatchObject({ queue: 'rated', max: 1, until: expect.any(String) })
})

test('no worker for its queue, a job that its worker does not know, and a worker that was killed', async () => {
  const { work, enqueue, reason } = await setup()
  await (await work('work:5')).stop()
  const unserved = await enqueue('hold')
  expect((await reason(unserved, 'no-worker')).kinds).toEqual(['no-worker'])
  const killed = await work('work:5', 'waiting-jobs-old')
  await reason(unserved, 'running')
  const unknown = await enqueue('fails')
  const { reason: left } = await eventually(async () => {
    const found = await reason(unknown, 'unknown-job')
    expect(found.reason.data).toMatchObject({ job: 'fails', since: expect.any(String) })
    return found
  }, PATIENT)
  expect(left.message).toContain('do not know the job fails')
  await killed.kill()
  const { kinds } = await reason(unserved, 'worker-lost')
  expect(kinds[0]).toBe('worker-lost')
  await reason(unserved, 'no-worker')
})

test.each([
  ['gone', (redis: TestRedis) => redis.stop()],
  ['frozen', async (redis: TestRedis) => redis.pause()],
])('of a run that the history has it is told that Redis is %s', async (_how, take) => {
  await using redis = await startTestRedis({ appendonly: 'no' })
  const { api, enqueue, work } = await setup(redis)
  const worker = await work('work:1')
  const id = await enqueue('hold', { delayMs: 600_000 })
  const outbox = await api.redis.xrange(keys.outboxKey(api.prefix, 'work'), '-', '+')
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 1 })
  await recordFacts(
    db,
    outbox.flatMap(([, fields]) => (fields[1] ?? '').split('\n')),
  )
  await db.destroy()
  await worker.kill()
  await take(redis)
  expect((await api.ask(`/api/v1/runs/${id}`)).body.state).toBe('queued')
  const answer = await api.ask(`/api/v1/runs/${id}/explain`)
  expect([answer.status, answer.body.type]).toEqual([503, 'urn:jadwal:problem:redis-unavailable'])
})

const searches = (reads: string[][]) => reads.filter(([name]) => name === 'lpos')

test('among a million runs that wait, it asks no more than among few', async () => {
  const { api, enqueue, read, work } = await setup()
  await (await work('work:5')).stop()
  const wait = keys.bullKey(api.prefix, 'work', 'wait')
  const fill = async (count: number): Promise<void> => {
    const pipeline = api.redis.pipeline()
    for (let at = 0; at < count; at += 10_000)
      pipeline.lpush(wait, ...Array.from({ length: 10_000 }, (_, i) => `filler-${at + i}`))
    await pipeline.exec()
  }
  const readsOf = async (id: string): Promise<string[][]> => {
    await using watch = await watchCommands(server.url)
    await read(id)
    await api.redis.echo(id)
    await eventually(() =>
      expect(watch.commands.some(([name, word]) => name === 'echo' && word === id)).toBe(true),
    )
    return watch.commands.filter((words) => words.includes(wait))
  }
  const ofFew = await readsOf(await enqueue('hold'))
  expect(searches(ofFew).length).toBeGreaterThan(0)
  await fill(500_000)
  const id = await enqueue('hold')
  await fill(500_000)
  const { reasons } = await read(id)
  expect(reasons.find(({ kind }) => kind === 'behind-others')?.data).toMatchObject({
    atLeast: 10_000,
    atMost: 1_000_001,
    waiting: 1_000_002,
  })
  const ofMany = await readsOf(id)
  expect(searches(ofMany).length).toBe(searches(ofFew).length)
  // Each search has a bound of its own, and nothing else looks through the list.
  expect(new Set(searches(ofMany).map((words) => words.slice(-2).join(' ')))).toEqual(
    new Set(['MAXLEN 10000']),
  )
  const names = new Set(ofMany.map(([name]) => name))
  expect([...names].filter((name) => !['llen', 'lpos', 'lindex'].includes(name ?? ''))).toEqual([])
})
