import { applySchedules } from '@jadwal/db'
import { expect, test } from 'vitest'
import { setupHistory } from './setup-history.ts'

const PAST = { from: '2026-09-01T00:00:00Z', to: '2026-09-02T00:00:00Z' }

async function setup(rule: object = {}) {
  const t = await setupHistory()
  const input = {
    job: 'email.send',
    cron: '0 * * * *',
    payload: { to: 'a@example.com', template: 'bye' },
    ...rule,
  }
  const schedules = [{ name: 'hourly', input }]
  await applySchedules(t.db, { schedules, prune: false, source: 'api', author: 'test' })
  const post = (path: string, body?: object) =>
    t.api.ask(`/api/v1/${path}`, {
      method: 'POST',
      ...(body
        ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
        : {}),
    })
  return { ...t, post, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() }
}

test('a backfill counts its ticks, is there to see, and can be paused, resumed and cancelled', async () => {
  await using t = await setup()
  const made = await t.post('schedules/hourly/backfill', { ...PAST, rate: 5 })
  expect(made.body).toMatchObject({ schedule: 'hourly', ticks: 24 })
  expect(made.status).toBe(202)
  const path = `backfills/${made.body.id}`
  expect(made.headers.get('location')).toBe(`/api/v1/${path}`)
  expect((await t.api.ask(`/api/v1/${path}`)).body).toMatchObject({
    id: made.body.id,
    state: 'running',
    from: '2026-09-01T00:00:00.000Z',
    to: '2026-09-02T00:00:00.000Z',
    all: false,
    rate: 5,
    concurrency: 1,
    ticks: 24,
    skipped: 0,
    enqueued: 0,
    runs: {},
    finishedAt: null,
  })
  expect((await t.post(`${path}/pause`)).body.state).toBe('paused')
  expect((await t.post(`${path}/pause`)).status).toBe(200)
  const acts = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 'pause' : 'resume'))
  const racing = await Promise.all(acts.map((act) => t.post(`${path}/${act}`)))
  expect(racing.map(({ status }) => status)).toEqual(acts.map(() => 200))
  await t.post(`${path}/pause`)
  expect((await t.post(`${path}/resume`)).body.state).toBe('running')
  expect((await t.post(`${path}/cancel`)).body).toMatchObject({ state: 'cancelled' })
  const again = await t.post(`${path}/resume`)
  expect([again.status, again.body.detail]).toEqual([
    409,
    'This backfill is cancelled: only one that is paused can become running.',
  ])
})

test('backfills are listed latest first, page by page, and by schedule', async () => {
  await using t = await setup()
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1)
    ids.unshift((await t.post('schedules/hourly/backfill', PAST)).body.id)
  const first = (await t.api.ask('/api/v1/backfills?limit=2')).body
  expect(first.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2))
  const rest = (await t.api.ask(`/api/v1/backfills?limit=2&cursor=${first.nextCursor}`)).body
  expect(rest.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2))
  expect((await t.api.ask('/api/v1/backfills?schedule=none')).body.items).toEqual([])
  for (const query of ['cursor=%21', 'schedule=%00', 'schedule=a&schedule=b'])
    expect((await t.api.ask(`/api/v1/backfills?${query}`)).status).toBe(400)
})

test.each([
  [{ ...PAST, to: PAST.from }, 400, 'to must be later than from'],
  [{ ...PAST, to: '2999-01-01T00:00:00Z' }, 400, 'to must not be in the future'],
  [{ from: PAST.from }, 400, 'to'],
  [{ ...PAST, rate: 0 }, 400, 'rate must be a number of runs a second, above 0'],
  [{ ...PAST, concurrency: 1_001 }, 400, 'concurrency must be a whole number from 1 to 1000'],
  [{ ...PAST, speed: 3 }, 400, 'speed is not known'],
  [
    { from: '2026-09-01T00:10:00Z', to: '2026-09-01T00:20:00Z' },
    400,
    'from the schedule has no tick from there up to `to`',
  ],
])('a backfill asked for as %j is refused', async (body, status, words) => {
  await using t = await setup()
  const answer = await t.post('schedules/hourly/backfill', body)
  expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(words)])
})

test('a range with too many ticks is refused, and the api answers others meanwhile', async () => {
  await using t = await setup({ cron: '* * * * * *' })
  const asking = t.post('schedules/hourly/backfill', { ...PAST, from: '2026-01-01T00:00:00Z' })
  expect((await t.api.ask('/healthz')).status).toBe(200)
  expect((await asking).body.detail).toContain('more than 1000000 ticks')
})

test('a range that calendars keep the schedule from is counted in no time, one that they cut into too many parts is refused', async () => {
  await using t = await setup()
  const calendar = (name: string, dates: string[]) =>
    t.api.ask(`/api/v1/calendars/${name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ dates }),
    })
  await calendar('audit', ['2026-08-30'])
  await calendar('holidays', ['12-25'])
  const job = { job: 'email.send', payload: { to: 'a@example.com', template: 'bye' } }
  const only = { ...job, every: '1s', calendars: { only: ['audit'] } }
  const schedules = [
    { name: 'rare', input: only },
    { name: 'rarer', input: { ...only, calendars: { only: ['audit'], skip: ['holidays'] } } },
  ]
  await applySchedules(t.db, { schedules, prune: false, source: 'api', author: 'test' })
  const range = { ...PAST, from: '0001-01-01T00:00:00Z' }
  const rare = await t.post('schedules/rare/backfill', range)
  expect([rare.status, rare.body.ticks]).toEqual([202, 86_400])
  const rarer = await t.post('schedules/rarer/backfill', range)
  expect([rarer.status, rarer.body.detail]).toEqual([
    400,
    expect.stringContaining('calendars keep the schedule from more than 100000 times'),
  ])
})

test('there is no backfill of what does not exist, is in shadow mode, or whose job nobody serves', async () => {
  await using t = await setup({ mode: 'shadow' })
  expect((await t.post('schedules/none/backfill', PAST)).status).toBe(404)
  expect((await t.post('schedules/hourly/backfill', PAST)).status).toBe(409)
  expect((await t.api.ask('/api/v1/backfills/0190b5a0-0000-7000-8000-000000000001')).status).toBe(
    404,
  )
  expect((await t.post('backfills/nonsense/cancel')).status).toBe(404)
})
