import { keys, publishCatalogue, registerQueues } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi } from './setup-api.ts'
import { auditOf } from './setup-audit.ts'

const post = (body?: object): RequestInit => ({
  method: 'POST',
  ...(body
    ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    : undefined),
})

async function setup() {
  const api = await setupApi()
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  return api
}

test('a queue is paused and resumed, and everybody is told by whom and why', async () => {
  await using api = await setup()
  const paused = await api.ask('/api/v1/queues/emails/pause', post({ reason: 'it moves' }))
  expect(paused.status).toBe(200)
  const pause = { by: 'admin', reason: 'it moves', at: expect.any(String) }
  expect(paused.body).toEqual({ name: 'emails', paused: true, pause, warnings: [] })
  const again = await api.ask('/api/v1/queues/emails/pause', post({ reason: 'another' }))
  expect(again.body).toEqual(paused.body)
  expect((await api.ask('/api/v1/queues/emails')).body).toMatchObject({ paused: true, pause })
  const [listed] = (await api.ask('/api/v1/queues')).body.items
  expect(listed).toMatchObject({ name: 'emails', paused: true, pause })

  expect(
    (await api.post({ job: 'email.send', payload: { to: 'a@b.co', template: 'bye' } })).status,
  ).toBe(202)
  expect((await api.ask('/api/v1/queues/emails')).body.counts.waiting).toBe(1)
  const resumed = await api.ask('/api/v1/queues/emails/resume', post())
  expect(resumed.body).toEqual({ name: 'emails', paused: false, pause: null, warnings: [] })
  expect((await api.ask('/api/v1/queues/emails/resume', post({}))).status).toBe(200)

  const events = await api.redis.xrange(keys.eventsKey(api.prefix), '-', '+')
  expect(events.map(([, fields]) => [fields[1], JSON.parse(fields[5] ?? '')])).toEqual([
    ['queue.paused', { queue: 'emails', by: 'admin', reason: 'it moves' }],
    ['queue.resumed', { queue: 'emails', by: 'admin' }],
  ])
})

test('a pause of which no event can be written is done, and the audit log has it', async () => {
  await using api = await setup()
  await api.redis.set(keys.eventsKey(api.prefix), 'no stream')
  const { status, body } = await api.ask('/api/v1/queues/emails/pause', post())
  expect({ status, paused: body.paused }).toEqual({ status: 200, paused: true })
  expect(await auditOf(api, 'queues.pause')).toMatchObject({
    subject: 'queues/emails',
    status: 200,
    before: { paused: false },
    after: { paused: true },
  })
})

test('who pauses the alerts is warned', async () => {
  await using api = await setup()
  await registerQueues(api.redis, api.prefix, ['alerts'])
  const { body } = await api.ask('/api/v1/queues/alerts/pause', post())
  expect(body).toMatchObject({ paused: true, warnings: [expect.stringContaining('nobody hears')] })
})

test.each([
  ['ticks', 409, 'alarms of the leader'],
  ['emails.dead', 409, 'dead letters'],
  ['nothing', 404, 'There is no queue nothing.'],
])('the queue %s can not be paused', async (name, status, detail) => {
  await using api = await setup()
  for (const act of ['pause', 'resume']) {
    const answer = await api.ask(`/api/v1/queues/${name}/${act}`, post())
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(detail)])
  }
  expect((await api.ask(`/api/v1/queues/${name}`)).status).toBe(404)
})

test('a wrong body is refused by its field', async () => {
  await using api = await setup()
  const answer = await api.ask('/api/v1/queues/emails/pause', post({ reason: 1, until: 'x' }))
  expect(answer.status).toBe(400)
  expect(answer.body.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual([
    'reason',
    'until',
  ])
  expect((await api.ask('/api/v1/queues/emails')).body.paused).toBe(false)
})
