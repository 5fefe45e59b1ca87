import { randomUUID } from 'node:crypto'
import { redriveRunId, type RunFact, systemClock } from '@jadwal/domain'
import { deadLetterFields, keys, publishCatalogue } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import { expect, inject, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi, type TestApi } from './setup-api.ts'
import { factOf, setupHistory } from './setup-history.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const QUEUE = EMAIL_JOB.queue
const PAYLOAD = { to: 'ana@example.com', template: 'bye' }
const CAUSE = { error: { name: 'Error', message: 'no answer' }, fingerprint: 'aaaaaaaaaaaaaaaa' }

const post = (api: TestApi, path: string, body: object = {}) =>
  api.ask(`/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** A dead letter as a worker leaves it in Redis. */
async function bury(api: TestApi, id: string, job = EMAIL_JOB.name): Promise<void> {
  const death = { reason: 'failed', attempt: 3, at: systemClock.now().toISOString() } as const
  const data = { v: 1, payload: PAYLOAD }
  const fields = deadLetterFields({ job, data, enqueuedAtMs: 0, failures: 3, death })
  await api.redis.sadd(keys.queuesKey(api.prefix), QUEUE)
  await api.redis.hset(keys.deadKey(api.prefix, QUEUE, id), fields)
  await api.redis.lpush(keys.deadKey(api.prefix, QUEUE, 'wait'), id)
}

const left = (api: TestApi) => api.redis.lrange(keys.deadKey(api.prefix, QUEUE, 'wait'), 0, -1)
const waiting = (api: TestApi) => api.redis.lrange(keys.bullKey(api.prefix, QUEUE, 'wait'), 0, -1)

async function setup() {
  const t = await setupHistory()
  const died = async (about: Partial<RunFact> = {}, isInRedis = true): Promise<string> => {
    const fact = factOf('dead', { reason: 'failed', payload: PAYLOAD, ...CAUSE, ...about })
    await t.record(fact)
    if (isInRedis) await bury(t.api, fact.id, fact.job)
    return fact.id
  }
  return { ...t, died, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() }
}

test('dead letters are searched, and grouped by what they died of', async () => {
  await using t = await setup()
  const [one, other] = [await t.died(), await t.died({ job: 'other', fingerprint: null })]
  const list = (await t.api.ask('/api/v1/dead-letters?job=email.send')).body
  expect(list.items).toMatchObject([{ id: one, state: 'dead', ...CAUSE }])
  const all = (await t.api.ask('/api/v1/dead-letters')).body.items
  expect(all.map(({ id }: { id: string }) => id).toSorted()).toEqual([one, other].toSorted())
  const groups = (await t.api.ask('/api/v1/dead-letters/groups?fingerprint=aaaaaaaaaaaaaaaa')).body
  expect(groups).toEqual({
    from: expect.stringMatching(/Z$/),
    items: [
      {
        fingerprint: 'aaaaaaaaaaaaaaaa',
        job: 'email.send',
        queue: QUEUE,
        error: 'Error',
        message: 'no answer',
        count: 1,
        firstAt: expect.stringMatching(/Z$/),
        lastAt: expect.stringMatching(/Z$/),
        example: one,
      },
    ],
    nextCursor: null,
  })
  const aWeekAgo = Date.now() - 7 * 86_400_000
  expect(Math.abs(Date.parse(groups.from) - aWeekAgo)).toBeLessThan(60_000)
  const old = new Date(aWeekAgo - 86_400_000).toISOString()
  await t.died({ job: 'old', finished_at: old })
  const jobs = async (query: string) =>
    (await t.api.ask(`/api/v1/dead-letters/groups${query}`)).body.items.map(
      ({ job }: { job: string }) => job,
    )
  expect(await jobs('')).not.toContain('old')
  expect(await jobs(`?from=${old}`)).toContain('old')
})

test.each([
  ['GET dead-letters?fingerprint=x', undefined, 'fingerprint must have 16 hex digits'],
  ['GET dead-letters?settled=maybe', undefined, 'settled must be yes, no or any'],
  ['GET dead-letters/groups?from=now', undefined, 'from must be an instant'],
  ['GET dead-letters?cursor=%21', undefined, 'cursor'],
  ['POST dead-letters/redrive', {}, 'just one'],
  ['POST dead-letters/redrive', { all: true, ids: [randomUUID()] }, 'just one'],
  ['POST dead-letters/redrive', { ids: [] }, 'ids must be a list of 1 to 1000'],
  ['POST dead-letters/redrive', { ids: ['x'] }, 'ids.0 must be the id of a run'],
  ['POST dead-letters/redrive', { filter: {} }, 'filter must say something'],
  ['POST dead-letters/redrive', { filter: { state: 'dead' } }, 'filter.state is not known'],
  ['POST dead-letters/redrive', { all: true, rate: 0 }, 'rate must be a number of runs a second'],
  ['POST dead-letters/discard', { all: true }, 'reason must be a text'],
  ['POST dead-letters/discard', { all: true, reason: 'x', cursor: 'y' }, 'cursor'],
  [
    'POST dead-letters/discard',
    { ids: [randomUUID()], reason: 'x', cursor: 'y' },
    'cursor goes with "filter" or "all"',
  ],
])('%s with %j is refused and names the field', async (asked, body, words) => {
  await using api = await setupApi()
  const [method, path = ''] = asked.split(' ')
  const answer = method === 'GET' ? await api.ask(`/api/v1/${path}`) : await post(api, path, body)
  expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining(words)])
})

test('letters named by id are redriven at once, each answered for, and again as the same runs', async () => {
  await using t = await setup()
  const [kept, lost, strange] = [
    await t.died(),
    await t.died({}, false),
    await t.died({ job: 'x' }),
  ]
  const fine = factOf('succeeded')
  await t.record(fine)
  const unknown = randomUUID()
  const ids = [kept, lost, strange, fine.id, unknown]
  const answer = await post(t.api, 'dead-letters/redrive', { ids })
  expect(answer.status).toBe(200)
  expect(answer.body.items).toEqual([
    { id: kept, redrivenAs: redriveRunId(kept) },
    { id: lost, redrivenAs: redriveRunId(lost) },
    { id: strange, refused: 'unknown-job', detail: 'No worker has served the job x yet.' },
    { id: fine.id, refused: 'not-dead', detail: 'The run is succeeded.' },
    { id: unknown, refused: 'not-found', detail: 'There is no run with this id.' },
  ])
  expect(await left(t.api)).toEqual([strange])
  expect((await post(t.api, 'dead-letters/redrive', { ids })).body).toEqual(answer.body)
  expect((await waiting(t.api)).toSorted()).toEqual([kept, lost].map(redriveRunId).toSorted())
  const run = (await t.api.ask(`/api/v1/runs/${kept}`)).body
  expect(run).toMatchObject({ state: 'dead', redrivenAs: redriveRunId(kept) })
  const again = (await t.api.ask(`/api/v1/runs/${redriveRunId(kept)}`)).body
  expect(again).toMatchObject({ state: 'queued', redriveOf: kept, payload: PAYLOAD })
})

test('letters are discarded with a reason, by id and by what they have in common', async () => {
  await using t = await setup()
  const [one, two, three] = [await t.died(), await t.died(), await t.died({ job: 'other' })]
  const byId = await post(t.api, 'dead-letters/discard', { ids: [one], reason: 'a test order' })
  expect(byId.body.items).toEqual([{ id: one, discarded: true }])
  expect((await t.api.ask(`/api/v1/runs/${one}`)).body).toMatchObject({
    discarded: { at: expect.stringMatching(/Z$/), by: 'admin', reason: 'a test order' },
  })
  const filter = { job: 'other' }
  const body = { filter, reason: 'gone' }
  expect((await post(t.api, 'dead-letters/discard', body)).body).toEqual({
    discarded: 1,
    nextCursor: null,
  })
  expect(await left(t.api)).toEqual([two])
  const redrive = await post(t.api, 'dead-letters/redrive', { ids: [one, three] })
  expect(redrive.body.items).toMatchObject([{ refused: 'discarded' }, { refused: 'discarded' }])
  await post(t.api, 'dead-letters/redrive', { ids: [two] })
  const late = await post(t.api, 'dead-letters/discard', { ids: [two], reason: 'late' })
  expect(late.body.items).toMatchObject([{ id: two, refused: 'redriven' }])

  const begun = await t.died()
  await t.api.redis.set(keys.settledKey(t.api.prefix, QUEUE, begun), 'claimed reports')
  const cut = await post(t.api, 'dead-letters/discard', { ids: [begun], reason: 'late' })
  expect(cut.body.items).toMatchObject([{ id: begun, refused: 'redrive-begun' }])
})

test('a redrive of many is made for the leader, and can be seen, paused and cancelled', async () => {
  await using t = await setup()
  await t.died()
  const made = await post(t.api, 'dead-letters/redrive', {
    filter: { queue: QUEUE },
    rate: 5,
    canary: true,
  })
  expect([made.status, made.body.letters]).toEqual([202, 1])
  const path = `redrives/${made.body.id}`
  expect(made.headers.get('location')).toBe(`/api/v1/${path}`)
  const view = (await t.api.ask(`/api/v1/${path}`)).body
  expect(view).toMatchObject({
    id: made.body.id,
    state: 'running',
    filter: { queue: QUEUE },
    rate: 5,
    canary: true,
    step: 0,
    letters: 1,
    redriven: 0,
    runs: {},
    refused: 0,
    author: 'admin',
    finishedAt: null,
  })
  expect((await post(t.api, `${path}/pause`)).body.state).toBe('paused')
  expect((await post(t.api, `${path}/resume`)).body.state).toBe('running')
  expect((await post(t.api, `${path}/cancel`)).body.state).toBe('cancelled')
  expect((await post(t.api, `${path}/cancel`)).status).toBe(200)
  const late = await post(t.api, `${path}/resume`)
  expect([late.status, late.body.type]).toEqual([409, 'urn:jadwal:problem:redrive-ended'])
  expect((await t.api.ask('/api/v1/redrives')).body.items).toMatchObject([{ id: made.body.id }])
  expect((await t.api.ask(`/api/v1/redrives/${randomUUID()}`)).status).toBe(404)
})

test('retry makes a dead run anew, one that waits for a retry now, and no other', async () => {
  await using t = await setup()
  const dead = await t.died()
  const redriven = await post(t.api, `runs/${dead}/retry`)
  expect([redriven.status, redriven.body]).toEqual([
    202,
    { id: redriveRunId(dead), state: 'queued', redriveOf: dead },
  ])
  const queued = await post(t.api, `runs/${redriveRunId(dead)}/retry`)
  expect([queued.status, queued.body.detail]).toEqual([409, expect.stringContaining('is queued')])

  const discarded = await t.died()
  await post(t.api, 'dead-letters/discard', { ids: [discarded], reason: 'x' })
  const refused = await post(t.api, `runs/${discarded}/retry`)
  expect([refused.status, refused.body.type]).toEqual([409, 'urn:jadwal:problem:letter-discarded'])
  expect((await post(t.api, `runs/${randomUUID()}/retry`)).status).toBe(404)

  const prefix = keys.bullPrefix(t.api.prefix, QUEUE)
  const queue = new Queue(QUEUE, { connection: t.api.redis, prefix })
  const { id } = factOf('retrying')
  await queue.add('email.send', { v: 1, payload: PAYLOAD }, { jobId: id, delay: 3_600_000 })
  await t.api.redis.hset(keys.bullKey(t.api.prefix, QUEUE, id), 'atm', 1)
  const now = await post(t.api, `runs/${id}/retry`)
  expect([now.status, now.body]).toEqual([202, { id, state: 'retrying' }])
  const run = (await t.api.ask(`/api/v1/runs/${id}`)).body
  expect(Date.parse(run.runAt)).toBeLessThan(Date.now() + 60_000)
  await queue.close()
})

test('while Postgres is away, letters in Redis are redriven and discarded, and what needs the history says so', async () => {
  await using proxy = await startTcpProxy(inject('postgresUrl'))
  await using api = await setupApi({}, proxy.wayTo)
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  const [one, two, gone] = [factOf('dead').id, factOf('dead').id, randomUUID()]
  for (const id of [one, two]) await bury(api, id)
  proxy.cut()
  await eventually(async () => expect((await api.ask('/api/v1/dead-letters')).status).toBe(503))
  const redriven = await post(api, 'dead-letters/redrive', { ids: [one, gone] })
  expect(redriven.body.items).toMatchObject([
    { id: one, redrivenAs: redriveRunId(one) },
    { id: gone, refused: 'history-unavailable' },
  ])
  const discarded = await post(api, 'dead-letters/discard', { ids: [two], reason: 'x' })
  expect(discarded.body.items).toEqual([{ id: two, discarded: true }])
  expect(await left(api)).toEqual([])
  expect((await post(api, 'dead-letters/redrive', { all: true })).status).toBe(503)
  const all = await post(api, 'dead-letters/discard', { all: true, reason: 'x' })
  expect([all.status, all.body.type]).toEqual([503, 'urn:jadwal:problem:history-unavailable'])
}, 60_000)
