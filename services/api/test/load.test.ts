import { type Db, recordFacts } from '@jadwal/db'
import { revision, type RunFact, tickRunId } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { setupTicks } from './setup-ticks.ts'

type Ticks = Awaited<ReturnType<typeof setupTicks>>

const MORNING = 'from=2030-01-01T00:00:00Z&to=2030-01-01T06:00:00Z'

/** `count` schedules named after `prefix`. */
function many(prefix: string, count: number, fields: object): Record<string, object> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${prefix}-${String(at).padStart(3, '0')}`, fields]),
  )
}

async function load(api: Ticks['api'], query: string) {
  const { body, status } = await api.ask(`/api/v1/schedules/load?${query}`)
  expect(status).toBe(200)
  return body
}

test('the load says what each bucket holds, who makes the peaks, and how to flatten them', async () => {
  await using t = await setupTicks()
  await t.apply({
    ...many('report', 40, { cron: '0 */2 * * *' }),
    often: { every: '1h', offset: '30m' },
    resting: { cron: '0 * * * *', paused: true },
    rehearsed: { cron: '0 * * * *', mode: 'shadow' },
    later: { cron: '0 * * * *', startsAt: '2030-01-02T00:00:00Z' },
  })
  const report = await load(t.api, `${MORNING}&bucket=15m`)
  expect(report).toMatchObject({ bucket: '15m', schedules: 41, ticks: 126 })
  const shown = report.buckets.map(({ at, ticks }: { at: string; ticks: number }) => [
    at.slice(11, 16),
    ticks,
  ])
  expect(shown).toEqual([
    ['00:00', 40],
    ['00:30', 1],
    ['01:30', 1],
    ['02:00', 40],
    ['02:30', 1],
    ['03:30', 1],
    ['04:00', 40],
    ['04:30', 1],
    ['05:30', 1],
  ])
  expect(report.peaks[0]).toEqual({
    at: '2030-01-01T00:00:00.000Z',
    ticks: 40,
    schedules: 40,
    cadences: [
      {
        cadence: { cron: '0 */2 * * *', timezone: 'UTC', dst: { gap: 'shift', fold: 'once' } },
        ticks: 40,
        schedules: 40,
        names: expect.arrayContaining([expect.stringMatching(/^report-\d{3}$/)]) as string[],
      },
    ],
  })
  const { peak, changes } = report.proposal
  expect(changes).toMatchObject([{ schedules: 40, cadence: { cron: '0 */2 * * *' } }])
  expect(peak.before).toEqual({ second: 40, bucket: 40 })
  expect(peak.after.second).toBeLessThan(20)

  const { jitter } = changes[0]
  await t.apply(many('report', 40, { cron: '0 */2 * * *', jitter }))
  const after = await load(t.api, `${MORNING}&bucket=1s`)
  const fullest = Math.max(...after.buckets.map(({ ticks }: { ticks: number }) => ticks))
  expect(fullest).toBe(peak.after.second)
})

test('pauses and calendars take from the load what they keep from firing', async () => {
  await using t = await setupTicks()
  await t.db
    .insertInto('calendars')
    .values({
      name: 'holidays',
      spec: JSON.stringify({ dates: ['2030-01-01'] }),
      source: 'api',
      author: 'test',
      changed_at: new Date('2026-01-01T00:00:00Z'),
    })
    .execute()
  await t.apply({
    daily: { cron: '0 5 * * *', calendars: { skip: ['holidays'] } },
    hourly: { cron: '0 * * * *' },
  })
  await t.db
    .insertInto('schedule_pauses')
    .values({
      schedule_id: await t.idOf('hourly'),
      from_at: new Date('2026-01-01T00:00:00Z'),
      until_at: new Date('2030-01-01T03:00:00Z'),
      reason: null,
      author: 'test',
      resumed_by: null,
    })
    .execute()
  const report = await load(t.api, MORNING)
  expect(report.buckets).toEqual([
    { at: '2030-01-01T04:00:00.000Z', ticks: 1 },
    { at: '2030-01-01T05:00:00.000Z', ticks: 1 },
  ])
  expect(report.proposal).toBeNull()
})

/** Runs of the last minutes, one a minute, that took so long. */
async function recordRuns(db: Db, { id, name }: { id: string; name: string }, tookMs: number) {
  const first = Date.parse('2026-09-01T12:00:00Z')
  const facts = Array.from({ length: 10 }, (_, at): RunFact => {
    const tickAtMs = first + at * 60_000
    const tickAt = new Date(tickAtMs).toISOString()
    return {
      kind: 'run',
      id: tickRunId(id as Parameters<typeof tickRunId>[0], tickAtMs),
      revision: revision(1, 'succeeded'),
      state: 'succeeded',
      job: 'email.send',
      queue: 'emails',
      schedule_id: id,
      schedule: name,
      tick_at: tickAt,
      payload: {},
      enqueued_at: tickAt,
      started_at: tickAt,
      finished_at: new Date(tickAtMs + tookMs).toISOString(),
      attempt: 1,
    }
  })
  await recordFacts(
    db,
    facts.map((fact) => JSON.stringify(fact)),
  )
}

test('schedules whose runs nearly fill their interval are warned of', async () => {
  await using t = await setupTicks()
  await t.apply({ quick: { every: '1m' }, slow: { every: '1m' }, slower: { every: '1m' } })
  for (const [name, tookMs] of [
    ['quick', 47_000],
    ['slow', 48_000],
    ['slower', 90_000],
  ] as const)
    await recordRuns(t.db, { id: await t.idOf(name), name }, tookMs)
  const { warnings } = await load(t.api, MORNING)
  expect(warnings).toMatchObject([
    { schedule: 'slower', kind: 'duration-near-interval', p95Ms: 90_000, intervalMs: 60_000 },
    { schedule: 'slow', p95Ms: 48_000, runs: 10, message: expect.stringContaining('80 %') },
  ])
  const own = async (name: string) => (await t.api.ask(`/api/v1/schedules/${name}`)).body.warnings
  expect(await own('slow')).toEqual([warnings[1]])
  expect(await own('quick')).toEqual([])
})

test('what would be too much is refused by name', async () => {
  await using t = await setupTicks()
  await t.apply(
    Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`s-${at}`, { every: '1s', jitter: `${at + 1}ms` }]),
    ),
  )
  const refusal = async (query: string) => {
    const { status, body } = await t.api.ask(`/api/v1/schedules/load?${query}`)
    return `${status} ${body.detail}`
  }
  const week = 'from=2030-01-01T00:00:00Z&to=2030-01-08T00:00:00Z'
  expect(await refusal(`${week}&bucket=10s`)).toMatch(/^400 to must be nearer to from: .*5000000/)
  expect(await refusal(`${week}&bucket=1s`)).toMatch(/^400 bucket must be longer/)
  expect(await refusal('to=2020-01-01T00:00:00Z')).toMatch(/^400 to must be later than from/)
  expect(await refusal('from=2030-01-01T00:00:00Z&to=2030-01-09T00:00:00Z')).toMatch(
    /^400 .*7 days/,
  )
  expect(await refusal('bucket=1500ms')).toMatch(/^400 .*bucket must be whole seconds/)
  expect(await refusal('bucket=soon')).toMatch(/^400 .*bucket is no duration/)
})

test('reports asked for at once are made one after the other, and too many are turned away', async () => {
  await using t = await setupTicks()
  await t.apply(many('s', 200, { cron: '* * * * *', jitter: '10s' }))
  const ask = (day: number) =>
    t.api.ask(`/api/v1/schedules/load?from=2030-01-0${day}T00:00:00Z&bucket=1m`)
  const answers = await Promise.all([1, 1, 2, 3, 4, 5, 6, 7, 8].map(ask))
  const statuses = answers.map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
  expect(answers.find(({ status }) => status === 503)?.headers.get('retry-after')).toBe('5')
  expect((await ask(1)).status).toBe(200)
})
