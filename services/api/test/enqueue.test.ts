import { MAX_PAYLOAD_BYTES, publishCatalogue } from '@jadwal/queue'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi, type TestApi } from './setup-api.ts'

const PAYLOAD = { to: 'ana@example.com', template: 'welcome' }

async function setup(): Promise<TestApi> {
  const api = await setupApi()
  await publishCatalogue(api.redis, api.prefix, [
    EMAIL_JOB,
    { ...EMAIL_JOB, name: 'anything', payloadSchema: {} },
  ])
  return api
}

describe('POST /api/v1/runs', () => {
  test('an accepted run can be read at once', async () => {
    await using api = await setup()
    const accepted = await api.post({ job: 'email.send', payload: PAYLOAD, priority: 7 })
    expect(accepted.status).toBe(202)
    expect(accepted.body).toEqual({ id: expect.any(String), state: 'queued' })
    expect(accepted.headers.get('location')).toBe(`/api/v1/runs/${accepted.body.id}`)

    const run = await api.ask(`/api/v1/runs/${accepted.body.id}`)
    expect(run.status).toBe(200)
    expect(run.body).toEqual({
      id: accepted.body.id,
      job: 'email.send',
      queue: 'emails',
      state: 'queued',
      payload: PAYLOAD,
      priority: 7,
      enqueuedAt: expect.stringMatching(/Z$/),
      attempts: [],
    })
  })

  test('a delayed run says when it is due', async () => {
    await using api = await setup()
    const runAt = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await api.post({ job: 'email.send', payload: PAYLOAD, runAt })
    const run = await api.ask(`/api/v1/runs/${body.id}`)
    expect(run.body).toMatchObject({ state: 'queued', runAt })
  })

  test('an unknown job is refused with the names of those that there are', async () => {
    await using api = await setup()
    const refused = await api.post({ job: 'email.sned', payload: PAYLOAD })
    expect(refused.status).toBe(422)
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
    expect(refused.body).toEqual({
      type: 'urn:jadwal:problem:unknown-job',
      title: 'No such job',
      status: 422,
      detail: 'No job "email.sned". Known jobs: anything, email.send.',
      errors: [{ field: 'job', message: 'is not known' }],
      requestId: refused.headers.get('x-request-id'),
    })
  })

  test('without any published job it says that a worker is missing', async () => {
    await using api = await setupApi()
    const refused = await api.post({ job: 'email.send', payload: PAYLOAD })
    expect(refused.status).toBe(422)
    expect(refused.body.detail).toContain('no worker has published its jobs yet')
  })

  test('each field of the payload that breaks the schema is named', async () => {
    await using api = await setup()
    const refused = await api.post({ job: 'email.send', payload: { to: 'nobody', extra: 1 } })
    expect(refused.status).toBe(422)
    expect(refused.body.errors).toEqual(
      expect.arrayContaining([
        { field: 'payload.to', message: 'must match format "email"' },
        { field: 'payload.template', message: 'must be there' },
        { field: 'payload.extra', message: 'is not known' },
      ]),
    )
    const wrongValue = await api.post({ job: 'email.send', payload: { ...PAYLOAD, template: 'x' } })
    expect(wrongValue.body.errors).toEqual([
      {
        field: 'payload.template',
        message: 'must be equal to one of the allowed values: ["welcome","bye"]',
      },
    ])
  })

  test('a reference to a secret stands in for what only the worker knows', async () => {
    await using api = await setup()
    const payload = { ...PAYLOAD, password: { secret: 'SMTP' } }
    expect((await api.post({ job: 'email.send', payload })).status).toBe(202)
    const wrong = { ...PAYLOAD, password: { secret: 'SMTP', more: true } }
    expect((await api.post({ job: 'email.send', payload: wrong })).status).toBe(422)
  })

  test('each bad field of the body is named, unknown ones too', async () => {
    await using api = await setup()
    const refused = await api.post({
      job: 'email.send',
      payload: PAYLOAD,
      delayMs: -1,
      runAt: 'tomorrow',
      priority: 1_001,
      attempts: 0,
      idempotencyKey: '',
      id: 'order-1',
      key: 'k',
    })
    expect(refused.status).toBe(400)
    expect(refused.body.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual([
      'attempts',
      'delayMs',
      'id',
      'idempotencyKey',
      'key',
      'priority',
      'runAt',
    ])
  })

  test('a run is due within 5 years', async () => {
    await using api = await setup()
    const run = { job: 'email.send', payload: PAYLOAD }
    const late = await api.post({ ...run, runAt: '2039-10-01T00:00:00Z' })
    expect(late.body.errors).toEqual([{ field: 'runAt', message: 'must be within 5 years' }])
    const long = await api.post({ ...run, delayMs: 1e13 })
    expect(long.body.errors).toEqual([
      { field: 'delayMs', message: 'must be at most 158112000000 (5 years)' },
    ])
  })

  test('a delay and an instant do not go together', async () => {
    await using api = await setup()
    const both = { job: 'email.send', payload: PAYLOAD, delayMs: 1, runAt: '2030-01-01T00:00:00Z' }
    expect((await api.post(both)).body.errors).toEqual([
      { field: 'runAt', message: 'cannot go with delayMs: give one of them' },
    ])
  })

  test('a body that does not say that it is JSON is refused', async () => {
    await using api = await setup()
    const refused = await api.ask('/api/v1/runs', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '{"job":"anything"}',
    })
    expect(refused.status).toBe(415)
  })
})

describe('a body that is not right', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await setup()
  })
  afterAll(async () => api[Symbol.asyncDispose]())

  const table = [
    { what: 'no JSON', body: '{', status: 400, kind: 'malformed-json' },
    { what: 'no object', body: '[]', status: 400, kind: 'bad-request' },
    { what: 'nothing', body: '', status: 400, kind: 'bad-request' },
    {
      what: 'a body of 2 MiB',
      body: JSON.stringify({ job: 'x'.repeat(2 ** 21) }),
      status: 413,
      kind: 'payload-too-large',
    },
    {
      what: 'a payload beyond the limit',
      body: JSON.stringify({ job: 'anything', payload: 'x'.repeat(MAX_PAYLOAD_BYTES) }),
      status: 413,
      kind: 'payload-too-large',
    },
    {
      what: 'a payload nested without end',
      body: `{"job":"anything","payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      status: 400,
      kind: 'bad-request',
    },
  ]
  test.each(table)('$what is refused', async ({ body, status, kind }) => {
    const refused = await api.post(body)
    expect(refused.body).toMatchObject({ status, type: `urn:jadwal:problem:${kind}` })
    expect(refused.status).toBe(status)
  })
})
