import { openDatabase, recordFacts } from '@jadwal/db'
import { newRunId, revision, systemClock } from '@jadwal/domain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setupApi, type TestApi } from './setup-api.ts'

const REASONS = { succeeded: null, dead: 'failed', cancelled: 'cancelled' } as const

let api: TestApi

beforeAll(async () => {
  api = await setupApi()
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 1 })
  const now = systemClock.now().getTime()
  const at = (seconds: number) => new Date(now + seconds * 1_000).toISOString()
  const facts = (['succeeded', 'succeeded', 'dead', 'cancelled'] as const).map((state, index) => ({
    kind: 'run',
    id: newRunId(now, crypto.getRandomValues(new Uint8Array(10))),
    revision: revision(1, state),
    state,
    job: index === 0 ? 'email.send' : 'report.generate',
    queue: index === 0 ? 'emails' : 'reports',
    enqueued_at: at(-20),
    started_at: at(-19),
    finished_at: at(-9),
    attempt: 1,
    reason: REASONS[state],
  }))
  await recordFacts(
    db,
    facts.map((fact) => JSON.stringify(fact)),
  )
  await db.destroy()
})
afterAll(() => api[Symbol.asyncDispose]())

const stats = (query = '') => api.ask(`/api/v1/stats${query}`)

test('the last hour is told by minutes, with totals and percentiles', async () => {
  const { status, body } = await stats()
  expect(status).toBe(200)
  expect(body).toMatchObject({
    step: 'minute',
    totals: { succeeded: 2, dead: 1, cancelled: 1, retries: 0, wait: { count: 4 } },
  })
  expect(body.totals.failureRate).toBeCloseTo(1 / 3)
  expect(Math.abs(body.totals.duration.p50Ms / 10_000 - 1)).toBeLessThan(0.05)
  expect(body.series).toHaveLength(1)
  expect(Date.parse(body.to) - Date.parse(body.from)).toBeGreaterThanOrEqual(3_600_000)
})

test('a job and a queue are told alone', async () => {
  expect((await stats('?job=email.send&window=24h')).body.totals).toMatchObject({ succeeded: 1 })
  expect((await stats('?queue=reports&window=7d')).body).toMatchObject({
    step: 'hour',
    totals: { succeeded: 1, dead: 1 },
  })
  expect((await stats('?window=30d&job=nothing')).body).toMatchObject({
    step: 'day',
    totals: { succeeded: 0, failureRate: null },
    series: [],
  })
})

test.each([
  ['window=1', 'window'],
  ['window=0s', 'window'],
  ['window=1h&from=2026-01-01T00:00:00Z', 'window'],
  ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'to'],
  ['from=1980-01-01T00:00:00Z', 'from'],
  ['from=2020-01-01T00:00:00Z&to=2020-01-01T01:00:00Z&step=minute', 'step'],
  ['step=week', 'step'],
  ['jobs=email.send', 'jobs'],
])('%s is refused by the name of its field', async (query, field) => {
  const { status, body } = await stats(`?${query}`)
  expect(status).toBe(400)
  expect(body.errors.map((error: { field: string }) => error.field)).toEqual([field])
})

test('a schedule that does not exist is not found', async () => {
  expect((await stats('?schedule=nightly')).status).toBe(404)
})
