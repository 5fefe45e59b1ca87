import { recordFacts } from '@jadwal/db'
import type { WorkerInfo } from '@jadwal/domain'
import { createProducer, keys } from '@jadwal/queue'
import { describe, expect, inject, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { factOf, setupHistory as setup } from './setup-history.ts'
import type { TestApi } from './setup-api.ts'

const PARENT = '01990000-0000-7000-8000-00000000000a'
const LOG = [
  { at: '2026-09-01T10:00:00.000Z', level: 'info' as const, message: 'looked', facts: { n: 1 } },
]

const idsOf = (answer: { body: { items: { id: string }[] } }) =>
  answer.body.items.map(({ id }) => id)

describe('GET /api/v1/runs', () => {
  test('runs are found by each filter, and page by page', async () => {
    await using t = await setup()
    const dead = factOf('dead', {
      reason: 'failed',
      labels: { team: 'billing' },
      error: { name: 'Error', message: 'mailbox full' },
    })
    const done = factOf('succeeded', {
      job: 'report.generate',
      queue: 'reports',
      parent_id: dead.id,
    })
    await t.record(dead)
    await t.record(done)
    const list = async (query: string) => idsOf(await t.api.ask(`/api/v1/runs?${query}`))

    expect(await list('')).toHaveLength(2)
    expect(await list('state=dead')).toEqual([dead.id])
    expect(await list('job=report.generate')).toEqual([done.id])
    expect(await list('queue=reports')).toEqual([done.id])
    expect(await list(`parent=${dead.id}`)).toEqual([done.id])
    expect(await list(`parent=${done.id}`)).toEqual([])
    expect(await list('label=team:billing')).toEqual([dead.id])
    expect(await list('label=team:other')).toEqual([])
    expect(await list('q=mailbox')).toEqual([dead.id])
    expect(await list('schedule=nightly')).toEqual([])
    expect(await list('from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z')).toEqual([])

    const first = await t.api.ask('/api/v1/runs?limit=1')
    const second = await t.api.ask(`/api/v1/runs?limit=1&cursor=${first.body.nextCursor}`)
    expect([...idsOf(first), ...idsOf(second)].toSorted()).toEqual([dead.id, done.id].toSorted())
    expect(second.body.nextCursor).toBeNull()
  })
})

describe('GET /api/v1/runs/{id}', () => {
  test('a run that is recorded is shown whole', async () => {
    await using t = await setup()
    const fact = factOf('dead', {
      reason: 'permanent',
      error: { name: 'Error', message: 'no such user' },
      parent_id: PARENT,
      log: LOG,
    })
    await t.record(fact)
    const { body } = await t.api.ask(`/api/v1/runs/${fact.id}`)
    expect(body).toMatchObject({
      id: fact.id,
      state: 'dead',
      reason: 'permanent',
      error: { message: 'no such user' },
      parentId: PARENT,
      attempts: [{ attempt: 1, state: 'failed', worker: 'worker-1', log: LOG }],
    })
  })

  test('a run whose outcome still waits for the recorder is shown by it', async () => {
    await using t = await setup()
    const fact = factOf('succeeded', { result: { sent: true }, log: LOG })
    await t.api.redis.xadd(
      keys.outboxKey(t.api.prefix, 'emails'),
      '*',
      'facts',
      JSON.stringify(fact),
    )
    const { body } = await t.api.ask(`/api/v1/runs/${fact.id}`)
    expect(body).toMatchObject({
      state: 'succeeded',
      result: { sent: true },
      attempts: [{ attempt: 1, state: 'succeeded', log: LOG }],
    })
  })

  test('a message that runs is shown running, over the older row', async () => {
    await using t = await setup()
    const { body } = await t.api.post({
      job: 'email.send',
      payload: { to: 'ana@example.com', template: 'bye' },
    })
    await t.record(
      factOf('queued', { id: body.id, attempt: 0, attempt_state: null, started_at: null }),
    )
    const key = (part: string) => keys.bullKey(t.api.prefix, 'emails', part)
    await t.api.redis.lmove(key('wait'), key('active'), 'RIGHT', 'LEFT')
    await t.api.redis.hset(key(body.id), { ats: 1, processedOn: Date.now(), pb: 'worker-7' })
    expect((await t.api.ask(`/api/v1/runs/${body.id}`)).body).toMatchObject({
      state: 'running',
      attempts: [{ attempt: 1, state: 'running', worker: 'worker-7' }],
    })
  })

  test('a run shows how far it is as long as it runs, whether its row knows that it runs or not', async () => {
    await using t = await setup()
    const { body } = await t.api.post({
      job: 'email.send',
      payload: { to: 'ana@example.com', template: 'bye' },
    })
    const shown = async () => (await t.api.ask(`/api/v1/runs/${body.id}`)).body
    expect(await shown()).not.toHaveProperty('progress')
    const key = (part: string) => keys.bullKey(t.api.prefix, 'emails', part)
    await t.api.redis.lmove(key('wait'), key('active'), 'RIGHT', 'LEFT')
    await t.api.redis.hset(key(body.id), { ats: 1, progress: '{"done":3}' })
    expect(await shown()).toMatchObject({ state: 'running', progress: { done: 3 } })
    await t.record(factOf('running', { id: body.id }))
    expect(await shown()).toMatchObject({
      state: 'running',
      progress: { done: 3 },
      attempts: [{ attempt: 1, worker: 'worker-1' }],
    })
    await t.record(factOf('succeeded', { id: body.id }))
    expect(await shown()).toMatchObject({ state: 'succeeded' })
    expect(await shown()).not.toHaveProperty('progress')
  })

  test('a run that ended is found behind a long backlog in the outbox of its queue', async () => {
    await using t = await setup()
    const { redis, prefix } = t.api
    const waiting = factOf('retrying', { attempt_state: 'failed' })
    await t.record(waiting)
    const outbox = keys.outboxKey(prefix, 'emails')
    const done = factOf('succeeded', { id: waiting.id, attempt: 2 })
    const pipeline = redis.pipeline().xadd(outbox, '*', 'facts', JSON.stringify(done))
    for (let at = 0; at < 1_000; at += 1) pipeline.xadd(outbox, '*', 'facts', '{}')
    await pipeline.exec()
    expect((await t.api.ask(`/api/v1/runs/${waiting.id}`)).body).toMatchObject({
      state: 'succeeded',
      attempts: [
        { attempt: 1, state: 'failed' },
        { attempt: 2, state: 'succeeded' },
      ],
    })
  })

  test('a row that has ended holds, whatever is left in Redis', async () => {
    await using t = await setup()
    const { body } = await t.api.post({
      job: 'email.send',
      payload: { to: 'ana@example.com', template: 'bye' },
    })
    await t.record(factOf('succeeded', { id: body.id }))
    expect((await t.api.ask(`/api/v1/runs/${body.id}`)).body.state).toBe('succeeded')
  })
})

describe('what there is to see', () => {
  test('jobs, queues and their dead letters', async () => {
    await using t = await setup()
    const { prefix } = t.api
    const producer = createProducer({ url: inject('redisUrl'), prefix, onError: () => undefined })
    await producer.enqueue(EMAIL_JOB, {})
    await producer.enqueue(EMAIL_JOB, {}, { priority: 3 })
    await producer.enqueue(EMAIL_JOB, {}, { delayMs: 60_000 })
    await producer.close()
    await t.api.redis.lpush(keys.deadKey(t.api.prefix, 'emails', 'wait'), 'x')

    expect((await t.api.ask('/api/v1/jobs')).body).toEqual({ items: [EMAIL_JOB], nextCursor: null })
    const { body } = await t.api.ask('/api/v1/queues')
    expect(body.items).toEqual([
      {
        name: 'emails',
        counts: { waiting: 1, prioritized: 1, delayed: 1, active: 0, failed: 0, completed: 0 },
        deadLetters: 1,
        paused: false,
        pause: null,
        oldestWaitingSeconds: expect.any(Number),
        outboxDepth: 1,
      },
    ])
    expect(body.items[0].oldestWaitingSeconds).toBeLessThan(30)
  })

  test('the leader and its terms', async () => {
    await using t = await setup()
    expect((await t.api.ask('/api/v1/leader')).status).toBe(404)
    const since = new Date().toISOString()
    await t.api.redis.hset(keys.leaderKey(t.api.prefix), {
      term: 7,
      instance: 'scheduler-1',
      since,
    })
    expect((await t.api.ask('/api/v1/leader')).body).toEqual({
      instance: 'scheduler-1',
      term: 7,
      since,
    })
    await recordFacts(t.db, [
      JSON.stringify({ kind: 'term', term: 7, instance: 'scheduler-1', from_at: since }),
    ])
    expect((await t.api.ask('/api/v1/leader/terms')).body).toEqual({
      items: [{ term: 7, instance: 'scheduler-1', from: since, until: null, reason: null }],
      nextCursor: null,
    })
  })

  test('workers', async () => {
    await using t = await setup()
    const worker = await publishWorker(t.api)
    expect((await t.api.ask('/api/v1/workers')).body).toEqual({ items: [worker], nextCursor: null })
  })

  test('metrics count what lies in the queues', async () => {
    await using t = await setup()
    await publishWorker(t.api)
    await t.api.post({ job: 'email.send', payload: { to: 'ana@example.com', template: 'bye' } })
    const { text, headers } = await t.api.ask('/metrics')
    expect(headers.get('content-type')).toContain('text/plain')
    expect(text).toContain('jadwal_queue_messages{queue="emails",state="waiting"} 1')
    expect(text).toMatch(/jadwal_queue_oldest_waiting_seconds\{queue="emails"\} [\d.]+/)
    expect(text).toContain('jadwal_dead_letters{queue="emails"} 0')
    expect(text).toContain('jadwal_outbox_depth{queue="scheduler"} 0')
    expect(text).toContain('jadwal_workers 1')
  })

  test('the page shows it all, and every word of it escaped', async () => {
    await using t = await setup()
    const evil = '<script>alert(1)</script>'
    await t.record(factOf('dead', { reason: 'failed', error: { name: 'Error', message: evil } }))
    const page = await t.api.ask('/', { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page.text).not.toContain(evil)
    for (const part of ['"queues/queue/emails', 'No scheduler leads', 'dead, failed', '"metrics"'])
      expect(page.text).toContain(part)
  })
})

async function publishWorker(api: TestApi): Promise<WorkerInfo> {
  const now = new Date().toISOString()
  const worker: WorkerInfo = {
    instance: 'worker-1',
    host: 'here',
    pid: 1,
    version: '0.1.0',
    startedAt: now,
    seenAt: now,
    state: 'running',
    queues: [{ name: 'emails', concurrency: 10 }],
    running: [],
    runningCount: 0,
    memoryBytes: 1,
  }
  await api.redis.hset(keys.workersKey(api.prefix), worker.instance, JSON.stringify(worker))
  return worker
}
