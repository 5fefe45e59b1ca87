import { once } from 'node:events'
import { keys, openRedis, producerConnection } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { EMAIL, fileOf, setupSchedules } from './setup-schedules.ts'

test('PUT creates, changes, and does nothing when nothing differs', async () => {
  await using api = await setupSchedules()
  const made = await api.send('PUT', '/schedules/nightly?reason=first', EMAIL)
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    name: 'nightly',
    ...EMAIL,
    version: 1,
    source: 'api',
    author: 'admin',
    nextTick: expect.stringMatching(/T06:00:00\.000Z$/),
  })
  const same = await api.send('PUT', '/schedules/nightly', EMAIL)
  expect([same.status, same.body.version]).toEqual([200, 1])
  const changed = await api.send('PUT', '/schedules/nightly', { ...EMAIL, cron: '0 7 * * *' })
  expect([changed.status, changed.body.version]).toEqual([200, 2])
  const read = await api.send('GET', '/schedules/nightly')
  expect(read.body).toMatchObject(changed.body)
})

test('several that PUT the same at once make one version', async () => {
  await using api = await setupSchedules()
  const answers = await Promise.all([1, 2, 3, 4].map(() => api.send('PUT', '/schedules/a', EMAIL)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.map(({ body }) => body.version)).toEqual([1, 1, 1, 1])
})

test('DELETE takes a schedule away; its versions tell who did and why', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/a', EMAIL)
  expect((await api.send('DELETE', '/schedules/a?reason=old')).status).toBe(204)
  for (const [method, path] of [
    ['GET', '/schedules/a'],
    ['DELETE', '/schedules/a'],
    ['POST', '/schedules/a/pause'],
    ['GET', '/schedules/b/versions'],
  ] as const)
    expect((await api.send(method, path)).status).toBe(404)
  const { body } = await api.send('GET', '/schedules/a/versions')
  expect(body.items).toMatchObject([{ version: 1, deleted: { author: 'admin', reason: 'old' } }])
})

test.each([
  [{ ...EMAIL, job: 'email.sned' }, 422, 'unknown-job', { field: 'job', value: 'email.sned' }],
  [{ ...EMAIL, payload: { to: 'ana' } }, 422, 'invalid-payload', { field: 'payload.template' }],
  [{ ...EMAIL, cron: '0 25 * * *' }, 400, 'bad-request', { field: 'cron', value: '0 25 * * *' }],
  [{ ...EMAIL, overlapp: 'skip' }, 400, 'bad-request', { field: 'overlapp' }],
  [
    { ...EMAIL, calendars: { skip: ['xmas'] } },
    400,
    'bad-request',
    { field: 'calendars.skip.0', value: 'xmas' },
  ],
  [[EMAIL], 400, 'bad-request', { field: 'schedules.a' }],
])('%j is refused, its field and value named', async (...refusal) => {
  const [body, status, kind, error] = refusal
  await using api = await setupSchedules()
  const refused = await api.send('PUT', '/schedules/a', body)
  expect(refused.status).toBe(status)
  expect(refused.body.type).toBe(`urn:jadwal:problem:${kind}`)
  expect(refused.body.errors).toContainEqual({
    message: expect.any(String),
    ...error,
  })
  expect((await api.send('GET', '/schedules/a')).status).toBe(404)
})

test('names that are none, and queries that are not known, are refused', async () => {
  await using api = await setupSchedules()
  for (const path of ['/schedules/Nightly', '/schedules/load', '/schedules/a?reasn=x'])
    expect((await api.send('PUT', path, EMAIL)).status).toBeGreaterThanOrEqual(400)
  expect((await api.ask('/api/v1/schedules/a', { method: 'PUT', body: 'x' })).status).toBe(415)
  expect((await api.send('PUT', '/schedules/a?reason=%00', EMAIL)).status).toBe(400)
})

test('what the file made is changed in the file alone, and it leaves alone what the api made', async () => {
  await using api = await setupSchedules()
  await api.send('POST', '/schedules/apply', fileOf({ filed: EMAIL }))
  await api.send('PUT', '/schedules/mine', EMAIL)
  const hourly = { ...EMAIL, cron: '0 * * * *' }
  for (const refused of [
    await api.send('PUT', '/schedules/filed', hourly),
    await api.send('DELETE', '/schedules/filed'),
    await api.send('POST', '/schedules/filed/rollback', { version: 1 }),
  ]) {
    expect(refused.status).toBe(409)
    expect(refused.body.type).toBe('urn:jadwal:problem:of-the-file')
  }
  const applied = await api.send(
    'POST',
    '/schedules/apply',
    fileOf({ mine: hourly }, { prune: true }),
  )
  expect(applied.body).toMatchObject({ foreign: ['mine'], removed: ['filed'] })
  expect((await api.send('GET', '/schedules/mine')).body).toMatchObject({ ...EMAIL, source: 'api' })
})

test('a rollback makes a version of what an old one said', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/a', EMAIL)
  await api.send('PUT', '/schedules/a?reason=often', { ...EMAIL, cron: '0 * * * *' })
  const back = await api.send('POST', '/schedules/a/rollback', { version: 1, reason: 'too often' })
  expect(back.body).toMatchObject({ ...EMAIL, version: 3 })
  const { body } = await api.send('GET', '/schedules/a/versions')
  expect(body.items).toMatchObject([
    {
      version: 3,
      author: 'admin',
      until: null,
      reason: 'rolled back to version 1: too often',
      diff: [{ field: 'cron', before: '0 * * * *', after: '0 6 * * *' }],
    },
    { version: 2, reason: 'often', until: body.items[0].at },
    { version: 1, until: body.items[1].at, spec: EMAIL },
  ])
  expect(body.items[2]).not.toHaveProperty('diff')
  expect((await api.send('POST', '/schedules/a/rollback', { version: 9 })).status).toBe(404)
  expect((await api.send('POST', '/schedules/a/rollback', { version: 'x' })).status).toBe(400)
})

test('schedules are found by label, job and source', async () => {
  await using api = await setupSchedules()
  const labels = { team: 'billing', tier: '1' }
  await api.send('POST', '/schedules/apply', fileOf({ a: EMAIL, b: { ...EMAIL, labels } }))
  await api.send('PUT', '/schedules/c', { ...EMAIL, labels: { team: 'ops' } })
  const found = async (query: string) => {
    const { body } = await api.send('GET', `/schedules?${query}`)
    return body.items.map(({ name }: { name: string }) => name)
  }
  expect(await found('label=team:billing')).toEqual(['b'])
  expect(await found('label=team:billing&label=tier:2')).toEqual([])
  expect(await found('source=file')).toEqual(['a', 'b'])
  expect(await found('source=api&job=email.send')).toEqual(['c'])
  expect(await found('job=other')).toEqual([])
  for (const query of ['label=team', 'source=me', 'colour=red'])
    expect((await api.send('GET', `/schedules?${query}`)).status).toBe(400)
})

test('each change is announced to the leader', async () => {
  await using api = await setupSchedules()
  const listener = openRedis(producerConnection(inject('redisUrl')), () => undefined)
  onTestFinished(() => listener.disconnect())
  if (listener.status !== 'ready') await once(listener, 'ready')
  let heard = 0
  listener.on('message', () => {
    heard += 1
  })
  await listener.subscribe(keys.schedulesChangedChannel(api.prefix))
  const acts = [
    ['PUT', '/schedules/a', EMAIL],
    ['POST', '/schedules/a/pause', {}],
    ['POST', '/schedules/a/resume', {}],
    ['PUT', '/calendars/x', { dates: ['12-25'] }],
    ['POST', '/pause', {}],
    ['POST', '/resume', {}],
    ['POST', '/schedules/apply', fileOf({ b: EMAIL })],
    ['DELETE', '/schedules/a'],
  ] as const
  for (const [at, [method, path, body]] of acts.entries()) {
    expect((await api.send(method, path, body)).status).toBeLessThan(300)
    await eventually(() => expect(heard).toBeGreaterThanOrEqual(at + 1))
  }
})
