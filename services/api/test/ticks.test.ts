import { ensurePartitions, recordFacts } from '@jadwal/db'
import { DAY, systemClock } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { factOf } from './setup-history.ts'
import { setupTicks } from './setup-ticks.ts'

type Api = Awaited<ReturnType<typeof setupTicks>>['api']

interface Item {
  tickAt: string
  verdict: string
  reason?: string
  unexpected?: boolean
}

/** Entries in short: `12:00 skipped overlap`. */
function told(items: Item[]): string[] {
  return items.map(({ tickAt, verdict, reason = '', unexpected }) =>
    `${tickAt.slice(11, 16)} ${verdict} ${unexpected ? 'unexpected' : reason}`.trim(),
  )
}

async function ledger(api: Api, name: string, query: string) {
  const { body, status } = await api.ask(`/api/v1/schedules/${name}/ticks?${query}`)
  expect(status).toBe(200)
  return body
}

const NOON = 'from=2026-09-01T12:00:00Z'

test('every tick has its verdict: fired, skipped, in a range, or missing', async () => {
  await using t = await setupTicks()
  await t.keepFrom('2026-09-01T00:00:00Z')
  await t.apply({ often: { every: '10m', jitter: '1m' } })
  await t.setTimes('often', [['2026-09-01T11:00:00Z', null]])
  const id = await t.recordTick('often', '2026-09-01T12:00:00.000Z', {
    enqueued_at: '2026-09-01T12:03:00.000Z',
    started_at: '2026-09-01T12:03:01.000Z',
    finished_at: '2026-09-01T12:03:05.000Z',
  })
  await t.recordTick('often', '2026-09-01T12:10:00.000Z', { state: 'skipped', reason: 'overlap' })
  await t.recordTick('often', '2026-09-01T12:20:00.000Z', {
    state: 'skipped',
    reason: 'misfire',
    tick_until: '2026-09-01T12:50:00.000Z',
    tick_count: 4,
  })
  const page = await ledger(t.api, 'often', `${NOON}&to=2026-09-01T12:41:00Z`)
  expect(told(page.items)).toEqual([
    '12:00 fired',
    '12:10 skipped overlap',
    '12:20 skipped misfire',
    '12:30 skipped misfire',
    '12:40 skipped misfire',
  ])
  expect(page.items[0]).toMatchObject({
    version: 1,
    run: {
      id,
      state: 'succeeded',
      term: 7,
      startedAt: '2026-09-01T12:03:01.000Z',
      finishedAt: '2026-09-01T12:03:05.000Z',
    },
  })
  // The schedule's jitter makes each of its runs wait for less than a minute.
  expect(page.items[0].latenessMs).toBeGreaterThan(120_000)
  expect(page.items[0].latenessMs).toBeLessThan(180_000)
  expect(page.items[2].range).toEqual({
    from: '2026-09-01T12:20:00.000Z',
    until: '2026-09-01T12:50:00.000Z',
    ticks: 4,
  })
  const inRange = 'from=2026-09-01T12:35:00Z&to=2026-09-01T13:10:01Z&summary=true'
  const rest = await ledger(t.api, 'often', inRange)
  expect(told(rest.items)).toEqual([
    '12:40 skipped misfire',
    '12:50 skipped misfire',
    '13:00 pending',
    '13:10 pending',
  ])
  expect(rest.summary).toEqual({
    ticks: 4,
    verdicts: { fired: 0, skipped: 2, pending: 2, upcoming: 0, expired: 0 },
    reasons: { misfire: 2 },
    late: 0,
    unexpected: 0,
  })
})

test('each version is expected over its own time, and a deleted schedule keeps its ledger', async () => {
  await using t = await setupTicks()
  await t.keepFrom('2026-09-01T00:00:00Z')
  await t.apply({ edited: { cron: '*/30 * * * *' } })
  await t.apply({ edited: { cron: '*/20 * * * *' } })
  await t.apply({ other: { every: '9d' } }, true)
  await t.apply({ edited: { every: '15m' } })
  await t.apply({ other: { every: '9d' } }, true)
  await t.setTimes('edited', [
    ['2026-09-01T12:00:00Z', '2026-09-01T13:00:00Z'],
    ['2026-09-01T13:00:00Z', '2026-09-01T13:50:00Z'],
    ['2026-09-01T14:10:00Z', '2026-09-01T14:45:00Z'],
  ])
  await t.recordTick('edited', '2026-09-01T13:00:00.000Z')
  const page = await ledger(t.api, 'edited', `${NOON}&to=2026-09-01T16:00:00Z`)
  expect(told(page.items)).toEqual([
    '12:30 pending',
    '13:00 fired',
    '13:20 pending',
    '13:40 pending',
    '14:15 pending',
    '14:30 pending',
    '14:45 pending',
  ])
  expect(page.items.map(({ version }: { version: number }) => version)).toEqual([
    1, 1, 2, 2, 3, 3, 3,
  ])
  expect(page.schedule.deletedAt).toMatch(/Z$/)
  expect((await t.api.ask('/api/v1/schedules/edited/next')).status).toBe(404)
})

test('pages follow one another without a gap, also through a range and a row nobody expected', async () => {
  await using t = await setupTicks()
  await t.keepFrom('2026-09-01T00:00:00Z')
  await t.apply({ often: { every: '10m' } })
  await t.setTimes('often', [['2026-09-01T11:55:00Z', null]])
  await t.recordTick('often', '2026-09-01T12:00:00.000Z', {
    state: 'skipped',
    reason: 'paused',
    tick_until: '2026-09-01T12:30:00.000Z',
    tick_count: 4,
  })
  await t.recordTick('often', '2026-09-01T12:44:00.000Z')
  const seen: Item[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page = await ledger(t.api, 'often', `${NOON}&to=2026-09-01T13:00:00Z&limit=2${more}`)
    seen.push(...page.items)
    cursor = page.nextCursor
  }
  expect(told(seen)).toEqual([
    '12:00 skipped paused',
    '12:10 skipped paused',
    '12:20 skipped paused',
    '12:30 skipped paused',
    '12:40 pending',
    '12:44 fired unexpected',
    '12:50 pending',
  ])
})

test('the day of a clock change has the ticks that its clock brings', async () => {
  await using t = await setupTicks()
  const berlin = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
  await t.apply({ shift: berlin, twice: { ...berlin, dst: { gap: 'skip', fold: 'twice' } } })
  for (const name of ['shift', 'twice']) await t.setTimes(name, [['2026-01-01T00:00:00Z', null]])
  const ticks = async (name: string, from: string, to: string) =>
    (await ledger(t.api, name, `from=${from}&to=${to}`)).items.map(({ tickAt }: Item) => tickAt)
  const spring = ['2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z'] as const
  const autumn = ['2026-10-24T12:00:00Z', '2026-10-25T12:00:00Z'] as const
  expect(await ticks('shift', ...spring)).toEqual([
    '2026-03-29T01:30:00.000Z',
    '2026-03-30T00:30:00.000Z',
  ])
  expect(await ticks('twice', ...spring)).toEqual(['2026-03-30T00:30:00.000Z'])
  expect(await ticks('shift', ...autumn)).toEqual(['2026-10-25T00:30:00.000Z'])
  expect(await ticks('twice', ...autumn)).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T01:30:00.000Z',
  ])
})

test('without a row, a tick of a day that the history has dropped is expired', async () => {
  await using t = await setupTicks()
  const now = systemClock.now()
  const startOfYesterday = Math.floor(now.getTime() / DAY) * DAY - DAY
  await ensurePartitions(t.db, { now, daysAhead: 1 })
  await t.apply({ daily: { cron: '0 0 * * *' } })
  await t.setTimes('daily', [['2026-01-01T00:00:00Z', null]])
  const day = (days: number) => new Date(startOfYesterday + days * DAY).toISOString()
  await t.recordTick('daily', day(-2))
  const page = await ledger(t.api, 'daily', `from=${day(-3)}&to=${day(1)}`)
  expect(page.items.map(({ verdict }: Item) => verdict)).toEqual([
    'expired',
    'fired',
    'expired',
    'pending',
  ])
})

test('a late tick says so, and runs by hand and of backfills are no ticks', async () => {
  await using t = await setupTicks()
  await t.keepFrom('2026-09-01T00:00:00Z')
  await t.apply({ often: { every: '10m' } })
  await t.setTimes('often', [['2026-09-01T11:55:00Z', null]])
  const id = await t.recordTick('often', '2026-09-01T12:00:00.000Z', { state: 'dead' })
  const late = new Date('2026-09-01T12:05:00.000Z')
  const scheduleId = await t.idOf('often')
  // `late_at` is Postgres' own: no fact has it.
  await t.db
    .insertInto('backfills')
    .values({
      id: '0190b5a0-0000-7000-8000-000000000001',
      schedule_id: scheduleId,
      from_at: new Date('2026-09-01T12:00:00Z'),
      until_at: new Date('2026-09-01T12:05:00Z'),
      state: 'running',
      all_ticks: false,
      rate: null,
      concurrency: 1,
      spec: '{}',
      calendars: '{}',
      queue: 'reports',
      ticks: 1,
      position_at: null,
      problem: null,
      author: 'test',
      created_at: late,
      finished_at: null,
    })
    .execute()
  await t.db.updateTable('runs').set({ late_at: late }).where('id', '=', id).execute()
  const again = factOf('succeeded', {
    schedule_id: scheduleId,
    tick_at: '2026-09-01T12:00:00.000Z',
    backfill_id: '0190b5a0-0000-7000-8000-000000000001',
  })
  const byHand = factOf('succeeded', { schedule_id: scheduleId })
  await recordFacts(t.db, [JSON.stringify(again), JSON.stringify(byHand)])
  const page = await ledger(t.api, 'often', `${NOON}&to=2026-09-01T12:10:00Z`)
  expect(page.items).toMatchObject([
    {
      verdict: 'fired',
      late: true,
      lateAt: late.toISOString(),
      run: { id, state: 'dead' },
      backfills: [{ id: again.id, state: 'succeeded', backfillId: again.backfill_id }],
    },
  ])
  const today = await ledger(t.api, 'often', 'limit=200')
  expect(today.items.some(({ unexpected }: Item) => unexpected)).toBe(false)
})
