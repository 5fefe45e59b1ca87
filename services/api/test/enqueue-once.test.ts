import { randomBytes } from 'node:crypto'
import { newRunId } from '@jadwal/domain'
import { keys, publishCatalogue } from '@jadwal/queue'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { type Answer, setupApi, type TestApi } from './setup-api.ts'

const RUN = { job: 'email.send', payload: { to: 'ana@example.com', template: 'welcome' } }
const OTHER = { ...RUN, payload: { ...RUN.payload, template: 'bye' } }
const ANYTHING = { ...EMAIL_JOB, name: 'anything', queue: 'others', payloadSchema: {} }

let api: TestApi
beforeAll(async () => {
  api = await setupApi({ JADWAL_MAX_PAYLOAD_BYTES: '2000000' })
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB, ANYTHING])
})
afterAll(() => api[Symbol.asyncDispose]())

const batch = (runs: unknown): Promise<Answer> =>
  api.ask('/api/v1/runs/batch', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ runs }),
  })
const waiting = (queue: string): Promise<number> =>
  api.redis.llen(keys.bullKey(api.prefix, queue, 'wait'))
const postOf = (length: number): Promise<Answer> =>
  api.post({ job: 'anything', payload: 'x'.repeat(length) })
const ownId = (): string => newRunId(Date.now(), randomBytes(10))

describe('POST /api/v1/runs', () => {
  test('the same idempotency key is the same run, which is said with its state', async () => {
    const once = { ...RUN, idempotencyKey: 'order-1' }
    const first = await api.post(once)
    expect(first.body).toEqual({ id: expect.any(String), state: 'queued' })
    const { id } = first.body
    const again = await api.post(once)
    expect(again.status).toBe(202)
    expect(again.headers.get('location')).toBe(`/api/v1/runs/${id}`)
    expect(again.body).toEqual({ id, state: 'queued', existing: true })
    await api.ask(`/api/v1/runs/${id}/cancel`, { method: 'POST' })
    expect((await api.post(once)).body).toEqual({ id, state: 'cancelled', existing: true })
  })

  test('another payload under a key is refused with the first run', async () => {
    const { id } = (await api.post({ ...RUN, idempotencyKey: 'order-2' })).body
    const refused = await api.post({ ...OTHER, idempotencyKey: 'order-2' })
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({
      type: 'urn:jadwal:problem:idempotency-conflict',
      runId: id,
      errors: [{ field: 'idempotencyKey', value: 'order-2', message: expect.stringContaining(id) }],
    })
  })

  test('an id of the caller is the run’s, once', async () => {
    const id = ownId()
    expect((await api.post({ ...RUN, id })).body).toEqual({ id, state: 'queued' })
    expect((await api.post({ ...RUN, id: id.toUpperCase() })).body.existing).toBe(true)
    expect((await api.post({ ...OTHER, id })).body.errors[0].field).toBe('id')
    const old = await api.post({ ...RUN, id: `01900000${id.slice(8)}` })
    expect(old.status).toBe(400)
    expect(old.body.errors[0]).toMatchObject({
      field: 'id',
      message: expect.stringContaining('at most a day old'),
    })
  })

  test('an id of a run of another queue is refused, upper case or not', async () => {
    const id = ownId()
    await api.post({ ...RUN, id })
    for (const given of [id, id.toUpperCase()]) {
      const refused = await api.post({ job: 'anything', payload: 1, id: given })
      expect(refused.status).toBe(409)
      expect(refused.body.errors).toEqual([
        { field: 'id', value: id, message: 'belongs to a run of the queue "emails"' },
      ])
    }
  })

  test('an id that Jadwal gave to a run, in whatever queue, is of no other', async () => {
    const { id } = (await api.post({ job: 'anything', payload: 1 })).body
    for (const run of [RUN, { job: 'anything', payload: 1 }]) {
      const refused = await api.post({ ...run, id })
      expect(refused.status).toBe(409)
      expect(refused.body).toMatchObject({
        type: 'urn:jadwal:problem:idempotency-conflict',
        runId: id,
        errors: [{ field: 'id', message: 'is of a run that was not enqueued with it' }],
      })
    }
    const before = await waiting('emails')
    const many = await batch([RUN, { ...RUN, id: ownId() }, { ...RUN, id }])
    expect(many.body.errors).toMatchObject([{ field: 'runs[2].id', value: id }])
    expect(await waiting('emails')).toBe(before)
  })

  test('calls with one new id that come at once are one run', async () => {
    const id = ownId()
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.post({ ...RUN, id })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
  })

  test('a payload may be as large as the environment says, and no larger', async () => {
    expect((await postOf(1_900_000)).status).toBe(202)
    const refused = await postOf(2_000_000)
    expect(refused.status).toBe(413)
    expect(refused.body.detail).toBe(
      'payload has 2000002 bytes, at most 2000000 are allowed: send a reference to what is large, or raise JADWAL_MAX_PAYLOAD_BYTES of the api',
    )
  })
})

describe('what was sent too long', () => {
  test('comes back cut', async () => {
    const long = 'x'.repeat(200_000)
    for (const answer of [
      await api.post({ ...RUN, job: long }),
      await api.post({ ...RUN, [long]: 1 }),
      await batch([{ ...RUN, job: long }]),
      await batch(Array.from({ length: 50 }, () => ({ ...RUN, [long]: 1 }))),
    ]) {
      expect(answer.status).toBe(400)
      expect(JSON.stringify(answer.body).length).toBeLessThan(50_000)
    }
    const { body } = await api.post({ ...RUN, job: long })
    expect(body.errors).toEqual([{ field: 'job', message: 'must have at most 100 characters' }])
  })
})

describe('POST /api/v1/runs/batch', () => {
  test('runs of several jobs go in together, and their ids come in order', async () => {
    const [emails, others] = [await waiting('emails'), await waiting('others')]
    const runs = Array.from({ length: 1_200 }, (_, n) =>
      n % 3 === 0 ? RUN : { job: 'anything', payload: n, idempotencyKey: `batch-${n}` },
    )
    const accepted = await batch(runs)
    expect(accepted.status).toBe(202)
    expect(accepted.body.runs).toHaveLength(1_200)
    expect(await waiting('emails')).toBe(emails + 400)
    expect(await waiting('others')).toBe(others + 800)
    const id = accepted.body.runs[7].id
    expect((await api.ask(`/api/v1/runs/${id}`)).body).toMatchObject({ payload: 7 })
    const again = await batch([runs[7], RUN])
    expect(again.body.runs).toEqual([
      { id, existing: true },
      { id: expect.any(String), state: 'queued' },
    ])
  })

  test.each<[string, unknown, number, string, string]>([
    ['a wrong field', { ...RUN, priority: -1 }, 400, 'bad-request', '.priority'],
    ['no object', 5, 400, 'bad-request', ''],
    [
      'two times',
      { ...RUN, delayMs: 1, runAt: '2030-01-01T00:00:00Z' },
      400,
      'bad-request',
      '.runAt',
    ],
    ['an unknown job', { job: 'email.sned' }, 422, 'unknown-job', '.job'],
    [
      'a wrong payload',
      { ...RUN, payload: { to: 'nobody', template: 'bye' } },
      422,
      'invalid-payload',
      '.payload.to',
    ],
    [
      'a large payload',
      { job: 'anything', payload: 'x'.repeat(2_000_000) },
      413,
      'payload-too-large',
      '.payload',
    ],
    [
      'a taken key',
      { ...OTHER, idempotencyKey: 'taken' },
      409,
      'idempotency-conflict',
      '.idempotencyKey',
    ],
  ])('of a batch with %s none goes in, and its place is named', async (_what, wrong, ...told) => {
    const [status, kind, field] = told
    await api.post({ ...RUN, idempotencyKey: 'taken' })
    const before = await waiting('emails')
    const refused = await batch([...Array.from({ length: 17 }, () => RUN), wrong, RUN])
    expect(refused.body).toMatchObject({ status, type: `urn:jadwal:problem:${kind}` })
    expect(refused.body.errors[0].field).toBe(`runs[17]${field}`)
    expect(await waiting('emails')).toBe(before)
  })

  test('of very many mistakes the first are named', async () => {
    const refused = await batch(Array.from({ length: 50 }, () => ({ job: 5 })))
    expect(refused.body.errors).toHaveLength(20)
    expect(refused.body.detail).toContain('and 30 more')
  })

  test.each([
    ['no list', {}],
    ['nothing', []],
    ['too many', Array.from({ length: 10_001 }, () => 0)],
  ])('%s is no batch', async (_what, runs) => {
    const refused = await batch(runs)
    expect(refused.status).toBe(400)
    expect(refused.body.errors[0].field).toBe('runs')
  })
})
