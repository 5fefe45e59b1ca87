import { expect, test } from 'vitest'
import { findSchedule, listVersions, rollBackSchedule } from '../src/index.ts'
import { DAILY, given, HOURLY, setupChanges } from './change-setup.ts'

const API = { source: 'api', author: 'api' } as const

test('each version tells who made it, when, why, and what the one before said', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY }, { author: 'ana', reason: 'first' })
  await apply({ a: DAILY }, { author: 'ben' })
  await apply({}, { remove: { schedules: ['a'] }, author: 'eve', reason: 'not needed' })
  const page = await listVersions(db, 'a', {})
  expect(page?.items).toMatchObject([
    {
      version: 2,
      author: 'ben',
      reason: null,
      content: { spec: DAILY },
      before: { spec: HOURLY },
      until_at: expect.any(Date) as Date,
      deleted_by: 'eve',
      deleted_reason: 'not needed',
    },
    { version: 1, author: 'ana', reason: 'first', before: null, deleted_by: null },
  ])
  expect(page?.items[1]?.until_at).toEqual(page?.items[0]?.from_at)
  expect(await listVersions(db, 'b', {})).toBeUndefined()
})

test('versions come page by page, latest first', async () => {
  const { db, apply } = await setupChanges()
  for (const every of ['1m', '2m', '3m']) await apply({ a: { job: 'a', every } })
  const first = await listVersions(db, 'a', { limit: 2 })
  expect(first?.items.map(({ version }) => version)).toEqual([3, 2])
  const rest = await listVersions(db, 'a', { limit: 2, cursor: first?.nextCursor ?? '' })
  expect(rest?.items.map(({ version }) => version)).toEqual([1])
  expect(rest?.nextCursor).toBeNull()
})

test('rolling back makes a new version of an old rule; to what holds it changes nothing', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY }, API)
  await apply({ a: DAILY }, API)
  const back = { name: 'a', version: 1, author: 'ana', reason: 'too rare' }
  expect(await rollBackSchedule(db, back)).toMatchObject({ changed: ['a'] })
  expect(await findSchedule(db, 'a')).toMatchObject({ version: 3, spec: HOURLY, author: 'ana' })
  const [latest] = (await listVersions(db, 'a', {}))?.items ?? []
  expect(latest?.reason).toBe('rolled back to version 1: too rare')
  expect(await rollBackSchedule(db, back)).toMatchObject({ unchanged: ['a'] })
  expect(await findSchedule(db, 'a')).toMatchObject({ version: 3 })
})

test('there is no way back to an unknown version, of a deleted schedule, or of the file', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY }, API)
  await apply({ filed: HOURLY })
  const to = (name: string, version: number) =>
    rollBackSchedule(db, { name, version, author: 'ana' })
  expect(await to('a', 2)).toBeUndefined()
  expect(await to('b', 1)).toBeUndefined()
  expect(await to('filed', 1)).toMatchObject({ foreign: ['filed'] })
  await apply({}, { ...API, remove: { schedules: ['a'] } })
  expect(await to('a', 1)).toBeUndefined()
})

test('a rollback takes the calendars as they are, and is refused when they are gone', async () => {
  const { db, apply } = await setupChanges()
  const closed = { ...HOURLY, calendars: { skip: ['holidays'] } }
  await apply({ a: closed }, { ...API, calendars: given({ holidays: { dates: ['12-25'] } }) })
  await apply({ a: HOURLY }, API)
  await apply({}, { ...API, calendars: given({ holidays: { dates: ['12-26'] } }) })
  await rollBackSchedule(db, { name: 'a', version: 1, author: 'ana' })
  expect(await findSchedule(db, 'a')).toMatchObject({
    version: 3,
    calendars: { holidays: { dates: ['12-26'] } },
  })
  await apply({ a: HOURLY }, API)
  await apply({}, { ...API, remove: { calendars: ['holidays'] } })
  await expect(rollBackSchedule(db, { name: 'a', version: 1, author: 'ana' })).rejects.toThrow(
    'schedules.a.calendars.skip.0 ("holidays"): there is no such calendar; there is none',
  )
})
