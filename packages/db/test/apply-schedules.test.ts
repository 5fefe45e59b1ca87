import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import {
  applySchedules,
  findSchedule,
  listSchedules,
  loadSchedules,
  readClock,
  readScheduleRevision,
  type ScheduleChanges,
} from '../src/index.ts'

async function setup() {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { db } = database
  const apply = (
    rules: Record<string, Record<string, unknown>>,
    changes: Partial<ScheduleChanges> = {},
  ) =>
    applySchedules(db, {
      schedules: Object.entries(rules).map(([name, input]) => ({ name, input })),
      prune: false,
      source: 'file',
      author: 'schedules.yaml',
      ...changes,
    })
  return { db, apply }
}

const hourly = { job: 'report.generate', cron: '0 * * * *', payload: { kind: 'hourly' } }
const daily = { ...hourly, cron: '0 6 * * *' }
const none = { added: [], changed: [], removed: [], unchanged: [], foreign: [] }
const nothing = { ...none, calendars: none }

test('applying the same again changes nothing, whatever the order of its keys', async () => {
  const { db, apply } = await setup()
  expect(await apply({ b: hourly, a: daily })).toEqual({ ...nothing, added: ['a', 'b'] })
  const revision = await readScheduleRevision(db)
  const turned = Object.fromEntries(Object.entries(hourly).toReversed())
  expect(await apply({ a: daily, b: turned })).toEqual({ ...nothing, unchanged: ['a', 'b'] })
  expect(await readScheduleRevision(db)).toBe(revision)
})

test('a change ends the version in force at the instant the next one begins', async () => {
  const { db, apply } = await setup()
  await apply({ report: hourly, other: hourly })
  const before = await readScheduleRevision(db)
  expect(await apply({ report: daily, other: hourly })).toEqual({
    ...nothing,
    changed: ['report'],
    unchanged: ['other'],
  })
  const { schedules, revision, problems } = await loadSchedules(db, before)
  expect(problems).toEqual([])
  expect(revision).toBe(before + 1)
  expect(schedules.map(({ name }) => name)).toEqual(['report'])
  const [first, second] = schedules[0]?.versions ?? []
  expect(first).toMatchObject({ version: 1, spec: { cron: '0 * * * *', timezone: 'UTC' } })
  expect(second).toMatchObject({ version: 2, spec: { cron: '0 6 * * *' } })
  expect(second?.fromMs).toBe(first?.untilMs)
  expect(second?.untilMs).toBeUndefined()
  expect(await findSchedule(db, 'report')).toMatchObject({
    version: 2,
    spec: daily,
    source: 'file',
  })
})

test('pruning deletes what the file no longer names; its name gets the same id back', async () => {
  const { db, apply } = await setup()
  await apply({ a: hourly, b: hourly })
  const id = (await findSchedule(db, 'b'))?.id
  expect(await apply({ a: hourly }, { prune: true })).toEqual({
    ...nothing,
    removed: ['b'],
    unchanged: ['a'],
  })
  expect((await listSchedules(db, {})).items.map(({ name }) => name)).toEqual(['a'])
  const deleted = (await loadSchedules(db)).schedules.find(({ name }) => name === 'b')
  expect(deleted?.versions).toHaveLength(1)
  expect(deleted?.versions[0]?.untilMs).toBeDefined()

  expect(await apply({ b: hourly })).toEqual({ ...nothing, added: ['b'] })
  expect(await findSchedule(db, 'b')).toMatchObject({ id, version: 2 })
})

test('schedules of another source are left alone, also when pruning', async () => {
  const { db, apply } = await setup()
  await apply({ mine: hourly }, { source: 'api', author: 'ops' })
  expect(await apply({ mine: daily, yours: daily }, { prune: true })).toEqual({
    ...nothing,
    added: ['yours'],
    foreign: ['mine'],
  })
  expect(await findSchedule(db, 'mine')).toMatchObject({ spec: hourly, author: 'ops' })
})

test('a file prunes what files wrote, whatever their path, and tells of what was applied over the api', async () => {
  const { db, apply } = await setup()
  await apply({ mine: hourly }, { author: 'file /old/schedules.yaml' })
  const calendars = [{ name: 'holidays', input: { dates: ['12-25'] } }]
  await apply({ yours: hourly }, { author: 'api', calendars })
  const prune = { prune: true, author: 'file /new/schedules.yaml' }
  expect(await apply({}, prune)).toEqual({ ...nothing, removed: ['mine'], foreign: ['yours'] })
  expect(await findSchedule(db, 'yours')).toBeDefined()
  expect(await apply({}, { prune: true, author: 'api' })).toMatchObject({ removed: ['yours'] })
})

test('a change of very many lies ahead by what writing it takes, so that the leader knows of it by then', async () => {
  const { db, apply } = await setup()
  const names = Array.from({ length: 2_000 }, (_, at) => `schedule-${at}`)
  const all = (spec: Record<string, unknown>) =>
    Object.fromEntries(names.map((name) => [name, spec]))
  await apply(all(hourly))
  const before = await readClock(db)
  await apply(all(daily))
  const { schedules } = await loadSchedules(db)
  const [first, second] = schedules[0]?.versions ?? []
  expect(second?.fromMs).toBeGreaterThanOrEqual(before.getTime() + 200)
  expect(second?.fromMs).toBe(first?.untilMs)
})

test('several that apply the same at once make one version', async () => {
  const { db, apply } = await setup()
  const results = await Promise.all([1, 2, 3].map(() => apply({ a: hourly })))
  expect(results.flatMap(({ added }) => added)).toEqual(['a'])
  expect(await findSchedule(db, 'a')).toMatchObject({ version: 1 })
})

test('a stored rule that does not parse is reported and left out; the others load', async () => {
  const { db, apply } = await setup()
  await apply({ good: hourly, bad: { job: 'x', every: '0s' } })
  const { schedules, problems } = await loadSchedules(db)
  expect(schedules.find(({ name }) => name === 'good')?.versions).toHaveLength(1)
  expect(schedules.find(({ name }) => name === 'bad')?.versions).toEqual([])
  expect(problems).toEqual([
    { schedule: 'bad', version: 1, problem: expect.stringContaining('every') as string },
  ])
})
