import { insertBackfill, findSchedule, openDatabase } from '@jadwal/db'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearer, makeToken } from './setup-access.ts'
import { changesIn, entriesOf, expectOneHistory } from './setup-audit.ts'
import { EMAIL, type SchedulesApi, setupSchedules } from './setup-schedules.ts'

let t: SchedulesApi
beforeAll(async () => {
  t = await setupSchedules()
})
afterAll(async () => {
  await t[Symbol.asyncDispose]()
})

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test('pauses and resumes of one queue by two people at once are one history', async () => {
  const ana = await makeToken(t, { name: 'ana', role: 'operator' })
  const bo = await makeToken(t, { name: 'bo', role: 'operator' })
  const act = (at: number) =>
    t.ask(`/api/v1/queues/emails/${at % 4 < 2 ? 'pause' : 'resume'}`, {
      method: 'POST',
      headers: {
        ...bearer((at % 2 === 0 ? ana : bo).token),
        'content-type': 'application/json',
      },
      body: JSON.stringify(at % 4 < 2 ? { reason: `reason ${at}` } : {}),
    })
  const answers = await Promise.all(numbers(16).map(act))
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  const { paused, pause } = (await t.send('GET', '/queues/emails')).body
  const entries = await entriesOf(t, { subject: 'queues/emails', count: 16 })
  const open = { paused: false, pause: null }
  expectOneHistory(entries, { from: open, to: { paused, pause: pause ?? null } })
  // Whoever paused it is who its entry says.
  for (const { actor, action, after } of changesIn(entries))
    expect(after).toMatchObject(action === 'queues.pause' ? { pause: { by: actor } } : open)
})

test('what becomes of one backfill at once is one history', async () => {
  await t.send('PUT', '/schedules/filled', EMAIL)
  const db = openDatabase({ url: t.databaseUrl, schema: 'jadwal', max: 1 })
  const schedule = await findSchedule(db, 'filled')
  const [id, at] = [randomUUID(), new Date('2026-01-01T00:00:00Z')]
  await insertBackfill(db, {
    id,
    schedule_id: schedule?.id ?? '',
    from_at: at,
    until_at: new Date('2026-01-02T00:00:00Z'),
    state: 'running',
    all_ticks: false,
    rate: null,
    concurrency: 1,
    spec: JSON.stringify(EMAIL),
    calendars: '{}',
    queue: 'emails',
    ticks: 1,
    author: 'test',
    created_at: at,
  })
  await db.destroy()
  const acts = ['pause', 'resume', 'pause', 'resume', 'pause', 'cancel', 'cancel', 'resume']
  await Promise.all(acts.map((act) => t.send('POST', `/backfills/${id}/${act}`)))
  const entries = await entriesOf(t, { subject: `backfills/${id}`, count: acts.length })
  expectOneHistory(entries, { from: { state: 'running' }, to: { state: 'cancelled' } })
  const refused = entries.filter(({ status }) => status === 409)
  expect(refused.filter(({ before, after }) => before !== null || after !== null)).toEqual([])
})

test('of many who revoke one token at once one has done it', async () => {
  const { id } = await makeToken(t, { name: 'gone', role: 'viewer' })
  const written = [id, id, id, id.toUpperCase()]
  await Promise.all(written.map((each) => t.send('DELETE', `/tokens/${each}`)))
  const entries = await entriesOf(t, { subject: `tokens/${id}`, count: 5 })
  const revokes = entries.filter(({ action }) => action === 'tokens.revoke')
  expect(changesIn(revokes)).toMatchObject([
    { before: { state: 'live' }, after: { state: 'revoked', revokedBy: 'admin' } },
  ])
})

test('acts of the board have subjects like all others, also when they are refused', async () => {
  const id = randomUUID()
  const put = (path: string) => t.ask(`/queues/api/queues/${path}`, { method: 'PUT' })
  const answers = [await put(`emails/${id}/retry`), await put('ticks/pause')]
  expect(answers.map(({ status }) => status)).toEqual([404, 403])
  expect(await entriesOf(t, { subject: `runs/${id}`, count: 1 })).toMatchObject([
    { action: 'runs.retry', status: 404, before: null, after: null },
  ])
  expect(await entriesOf(t, { subject: 'queues/ticks', count: 1 })).toMatchObject([
    { action: 'queues.pause', status: 403, before: null, after: null },
  ])
})
