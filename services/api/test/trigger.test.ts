import { keys } from '@jadwal/queue'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answer } from './setup-api.ts'
import { setupTicks } from './setup-ticks.ts'

let bench: Awaited<ReturnType<typeof setupTicks>>
beforeAll(async () => {
  bench = await setupTicks()
})
afterAll(async () => bench[Symbol.asyncDispose]())

const PAYLOAD = { to: 'ana@example.com', template: 'bye' }
const RULE = { cron: '0 3 * * *', payload: PAYLOAD }

function trigger(name: string, body?: unknown): Promise<Answer> {
  return bench.api.ask(`/api/v1/schedules/${name}/trigger`, {
    method: 'POST',
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
}

test('a triggered run can be read at once, with its schedule and without a tick', async () => {
  await bench.apply({ plain: { ...RULE, priority: 7, labels: { team: 'billing' } } })
  const answer = await trigger('plain')
  expect(answer.status).toBe(202)
  expect(answer.body).toEqual({ id: expect.any(String), state: 'queued' })
  expect(answer.headers.get('location')).toBe(`/api/v1/runs/${answer.body.id}`)
  const run = (await bench.api.ask(`/api/v1/runs/${answer.body.id}`)).body
  expect(run).toMatchObject({
    state: 'queued',
    job: 'email.send',
    schedule: 'plain',
    payload: PAYLOAD,
    priority: 7,
    labels: { team: 'billing' },
  })
  expect(run).not.toHaveProperty('tickAt')
})

test('the payload of the request takes the place of the one of the schedule, and is checked', async () => {
  await bench.apply({ other: { ...RULE, overlap: 'allow' } })
  const payload = { to: 'bob@example.com', template: 'welcome' }
  const answer = await trigger('other', { payload })
  expect((await bench.api.ask(`/api/v1/runs/${answer.body.id}`)).body.payload).toEqual(payload)
  const refused = await trigger('other', { payload: { to: 'bob@example.com' } })
  expect(refused.status).toBe(422)
  expect(refused.body.errors).toEqual([{ field: 'payload.template', message: 'must be there' }])
})

test('while a run is unfinished, skip answers 409 with its id, and the request may say otherwise', async () => {
  await bench.apply({ busy: RULE })
  const first = await trigger('busy')
  const refused = await trigger('busy')
  expect(refused.status).toBe(409)
  expect(refused.body).toMatchObject({
    type: 'urn:jadwal:problem:overlap',
    runId: first.body.id,
    detail: expect.stringContaining(first.body.id),
  })
  expect((await trigger('busy', { overlap: 'allow' })).status).toBe(202)
  await bench.apply({ busy: { ...RULE, overlap: 'allow' } })
  expect((await trigger('busy', { overlap: 'skip' })).status).toBe(409)
  expect((await trigger('busy')).status).toBe(202)
})

test('a trigger leaves the cadence alone', async () => {
  const { redis, prefix } = bench.api
  await bench.apply({ steady: RULE })
  const id = await bench.idOf('steady')
  await redis.hset(keys.lastTicksKey(prefix, 'emails'), id, '1000')
  await trigger('steady')
  expect(await redis.hget(keys.lastTicksKey(prefix, 'emails'), id)).toBe('1000')
})

test('a paused schedule can be triggered by hand', async () => {
  await bench.apply({ resting: { ...RULE, paused: true } })
  expect((await trigger('resting')).status).toBe(202)
})

test('in shadow mode nothing is executed, by hand neither', async () => {
  await bench.apply({ shadow: { ...RULE, mode: 'shadow' } })
  const refused = await trigger('shadow', { overlap: 'allow' })
  expect(refused.status).toBe(409)
  expect(refused.body).toMatchObject({
    type: 'urn:jadwal:problem:shadow',
    detail: expect.stringContaining('mode: live'),
  })
})

test('the schedule, its job and the fields of the request must be known', async () => {
  await bench.apply({ orphan: { ...RULE, job: 'nobody.serves' }, known: RULE })
  expect((await trigger('nowhere')).status).toBe(404)
  expect((await trigger('No Name')).status).toBe(404)
  const orphan = await trigger('orphan')
  expect(orphan.status).toBe(422)
  expect(orphan.body.type).toBe('urn:jadwal:problem:unknown-job')
  const wrong = await trigger('known', { overlap: 'queue', runAt: 'now' })
  expect(wrong.status).toBe(400)
  expect(wrong.body.errors.map(({ field }: { field: string }) => field)).toEqual([
    'overlap',
    'runAt',
  ])
})

test('a body that is not JSON is refused', async () => {
  await bench.apply({ strict: RULE })
  const init = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' }
  expect((await bench.api.ask('/api/v1/schedules/strict/trigger', init)).status).toBe(415)
})
