import { expect, test } from 'vitest'
import {
  findCalendar,
  findSchedule,
  listCalendars,
  listSchedules,
  loadSchedules,
} from '../src/index.ts'
import { given, HOURLY, NONE, setupChanges } from './change-setup.ts'

const XMAS = { dates: ['12-25'] }
const LONG_XMAS = { dates: ['12-25', '12-26'] }
const CLOSED = { ...HOURLY, calendars: { skip: ['holidays'] } }

async function versionsOf(db: Parameters<typeof loadSchedules>[0], name: string) {
  const { schedules } = await loadSchedules(db)
  return schedules.find((each) => each.name === name)?.versions ?? []
}

test('a calendar that changes begins a version of each schedule that names it, the past keeps its own', async () => {
  const { db, apply } = await setupChanges()
  await apply({ closed: CLOSED, open: HOURLY }, { calendars: given({ holidays: XMAS }) })
  const changed = await apply(
    {},
    { calendars: given({ holidays: LONG_XMAS }), author: 'ana', reason: 'longer' },
  )
  expect(changed).toEqual({
    ...NONE,
    changed: ['closed'],
    calendars: { ...NONE, changed: ['holidays'] },
  })
  const [first, second] = await versionsOf(db, 'closed')
  expect(first?.calendars).toMatchObject({ holidays: XMAS })
  expect(second?.calendars).toMatchObject({ holidays: LONG_XMAS })
  expect(second?.fromMs).toBe(first?.untilMs)
  expect(await versionsOf(db, 'open')).toHaveLength(1)
  expect(await findSchedule(db, 'closed')).toMatchObject({
    version: 2,
    spec: CLOSED,
    author: 'ana',
  })
  expect(await findCalendar(db, 'holidays')).toMatchObject({ spec: LONG_XMAS, author: 'ana' })

  const same = await apply({ closed: CLOSED }, { calendars: given({ holidays: LONG_XMAS }) })
  expect(same).toMatchObject({ unchanged: ['closed'], calendars: { unchanged: ['holidays'] } })
})

test('a schedule and a calendar that both change make one version', async () => {
  const { db, apply } = await setupChanges()
  await apply({ closed: CLOSED }, { calendars: given({ holidays: XMAS }) })
  const daily = { ...CLOSED, cron: '0 6 * * *' }
  await apply({ closed: daily }, { calendars: given({ holidays: LONG_XMAS }) })
  expect(await findSchedule(db, 'closed')).toMatchObject({ version: 2, spec: daily })
})

test('a calendar of the api changes schedules of the file that name it, and they stay of the file', async () => {
  const { db, apply } = await setupChanges()
  await apply({}, { source: 'api', calendars: given({ holidays: XMAS }) })
  await apply({ closed: CLOSED })
  await apply({}, { source: 'api', calendars: given({ holidays: LONG_XMAS }) })
  expect(await findSchedule(db, 'closed')).toMatchObject({ version: 2, source: 'file' })
})

test('a name of no calendar is refused, with place, value and the names there are', async () => {
  const { db, apply } = await setupChanges()
  await apply({}, { calendars: given({ holidays: XMAS, freeze: XMAS }) })
  const wrong = { ...HOURLY, calendars: { only: ['freeze', 'holidys'] } }
  await expect(apply({ fine: HOURLY, wrong })).rejects.toThrow(
    'schedules.wrong.calendars.only.1 ("holidys"): there is no such calendar; known are freeze, holidays',
  )
  expect(await findSchedule(db, 'fine')).toBeUndefined()
})

test('a calendar that a schedule names is not deleted, by name or by pruning; a free one is', async () => {
  const { db, apply } = await setupChanges()
  await apply({}, { calendars: given({ holidays: XMAS }) })
  await apply({ mine: CLOSED }, { source: 'api' })
  const inUse = "calendars.holidays: can't be deleted while schedules name it: mine"
  await expect(apply({}, { remove: { calendars: ['holidays'] } })).rejects.toThrow(inUse)
  await expect(apply({}, { prune: true })).rejects.toThrow(inUse)
  await apply({ mine: HOURLY }, { source: 'api' })
  expect(await apply({}, { prune: true })).toEqual({
    ...NONE,
    calendars: { ...NONE, removed: ['holidays'] },
  })
  expect((await listCalendars(db, {})).items).toEqual([])
})

test('a file that drops a calendar and what named it prunes both', async () => {
  const { db, apply } = await setupChanges()
  await apply({ closed: CLOSED }, { calendars: given({ holidays: XMAS }) })
  expect(await apply({}, { prune: true })).toMatchObject({
    removed: ['closed'],
    calendars: { removed: ['holidays'] },
  })
  expect(await findCalendar(db, 'holidays')).toBeUndefined()
})

test('a calendar of another source is left alone', async () => {
  const { db, apply } = await setupChanges()
  await apply({}, { source: 'api', calendars: given({ holidays: XMAS }) })
  const applied = await apply({}, { calendars: given({ holidays: LONG_XMAS }), prune: true })
  expect(applied.calendars).toEqual({ ...NONE, foreign: ['holidays'] })
  expect(await findCalendar(db, 'holidays')).toMatchObject({ spec: XMAS, source: 'api' })
})

test('however many schedules name a calendar, each revision of it is stored once and loaded once', async () => {
  const { db, apply } = await setupChanges()
  const both = { skip: ['holidays'], only: ['season'] }
  const season = { spans: [{ from: '2026-01-01', to: '2026-12-31' }] }
  await apply(
    { a: CLOSED, b: CLOSED, c: { ...HOURLY, calendars: both } },
    { calendars: given({ holidays: XMAS, season }) },
  )
  await apply({}, { calendars: given({ holidays: LONG_XMAS }) })
  await apply({}, { calendars: given({ holidays: XMAS }) })
  const revisions = await db.selectFrom('calendar_revisions').select('spec').execute()
  expect(revisions.map(({ spec }) => spec)).toEqual(
    expect.arrayContaining([XMAS, LONG_XMAS, season]) as unknown,
  )
  expect(revisions).toHaveLength(3)
  const stored = await db.selectFrom('schedule_versions').select('calendars').execute()
  for (const { calendars } of stored) expect(calendars['holidays']).toMatch(/^[0-9a-f]{64}$/)

  const { schedules } = await loadSchedules(db)
  const holidays = schedules.flatMap(({ versions }) =>
    versions.map(({ calendars }) => calendars?.['holidays']),
  )
  expect(holidays).toHaveLength(9)
  expect(new Set(holidays).size).toBe(2)
  const inForce = (await listSchedules(db, {})).items.map(({ calendars }) => calendars['holidays'])
  expect(inForce).toEqual([XMAS, XMAS, XMAS])
  expect(new Set(inForce).size).toBe(1)
})
