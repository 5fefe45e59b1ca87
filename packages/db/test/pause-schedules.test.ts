import { decideTicks } from '@jadwal/domain'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  type Db,
  findSchedule,
  listCurrentPauses,
  loadSchedules,
  pauseSchedules,
  readScheduleRevision,
  resumeSchedules,
} from '../src/index.ts'
import { HOURLY, setupChanges } from './change-setup.ts'

const BY_ANA = { author: 'ana', reason: null, until: null }
const HOUR = 3_600_000

async function pausesOf(db: Db, name: string) {
  const { schedules } = await loadSchedules(db)
  return schedules.find((each) => each.name === name)?.pauses ?? []
}

test('a pause begins at its instant and lasts until somebody resumes', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY, b: HOURLY })
  const revision = await readScheduleRevision(db)
  expect(await pauseSchedules(db, { schedule: 'a' }, { ...BY_ANA, reason: 'holiday' })).toBe('done')
  const { schedules } = await loadSchedules(db, revision)
  expect(schedules.map(({ name }) => name)).toEqual(['a'])
  const id = (await findSchedule(db, 'a'))?.id ?? ''
  expect(await listCurrentPauses(db, [id])).toMatchObject([
    { schedule_id: id, reason: 'holiday', author: 'ana', until_at: null },
  ])
  expect(await resumeSchedules(db, { schedule: 'a' }, 'ben')).toBe('done')
  expect(await listCurrentPauses(db, [id])).toEqual([])
  const [pause] = await pausesOf(db, 'a')
  expect(pause?.untilMs).toBeGreaterThanOrEqual(pause?.fromMs ?? Infinity)
  expect(await resumeSchedules(db, { schedule: 'a' }, 'ben')).toBe('unchanged')
  expect(await pausesOf(db, 'b')).toEqual([])
})

test('a pause while one is on goes on from it without a gap; the same again changes nothing', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY })
  const until = new Date('2099-01-01T00:00:00Z')
  await pauseSchedules(db, { schedule: 'a' }, BY_ANA)
  await pauseSchedules(db, { schedule: 'a' }, { ...BY_ANA, until })
  const [first, second] = await pausesOf(db, 'a')
  expect(first?.untilMs).toBe(second?.fromMs)
  expect(second?.untilMs).toBe(until.getTime())
  const revision = await readScheduleRevision(db)
  expect(await pauseSchedules(db, { schedule: 'a' }, { ...BY_ANA, until })).toBe('unchanged')
  expect(await readScheduleRevision(db)).toBe(revision)
})

test('several that pause and resume at once leave one pause or none', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY })
  await Promise.all(
    [1, 2, 3].flatMap((at) => [
      pauseSchedules(db, { schedule: 'a' }, { ...BY_ANA, reason: `reason ${at}` }),
      resumeSchedules(db, { schedule: 'a' }, 'ben'),
    ]),
  )
  const id = (await findSchedule(db, 'a'))?.id ?? ''
  expect((await listCurrentPauses(db, [id])).length).toBeLessThanOrEqual(1)
})

test('a pause of everything is of no schedule, and is told whatever changed', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY })
  const before = await readScheduleRevision(db)
  expect(await pauseSchedules(db, 'everything', BY_ANA)).toBe('done')
  const revision = await readScheduleRevision(db)
  expect(revision).toBe(before + 1)
  const loaded = await loadSchedules(db, revision)
  expect(loaded).toMatchObject({
    schedules: [],
    pauses: [{ fromMs: expect.any(Number) as number }],
  })
  expect(await listCurrentPauses(db, [])).toMatchObject([{ schedule_id: null }])
  await resumeSchedules(db, 'everything', 'ben')
  expect(await listCurrentPauses(db, [])).toEqual([])
})

test('ticks in (from, until] are skipped, the one on the beginning and those after the end are not', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY })
  await pauseSchedules(db, { schedule: 'a' }, BY_ANA)
  await resumeSchedules(db, { schedule: 'a' }, 'ben')
  // As if it had been told on the hour and undone on the hour, two hours later.
  await sql`UPDATE jadwal.schedule_pauses SET
    from_at = date_trunc('hour', from_at), until_at = date_trunc('hour', from_at) + interval '2 hours'`.execute(
    db,
  )
  const [pause] = await pausesOf(db, 'a')
  const { schedules } = await loadSchedules(db)
  const [version] = schedules[0]?.versions ?? []
  if (!pause || !version) throw new Error('nothing was loaded')
  const { verdicts } = decideTicks({ ...version, fromMs: 0 }, pause.fromMs - 1, {
    nowMs: pause.fromMs + 3 * HOUR,
    pauses: [pause],
  })
  expect(verdicts).toMatchObject([
    { verdict: 'fire', tickAtMs: pause.fromMs },
    {
      verdict: 'skip',
      reason: 'paused',
      tickAtMs: pause.fromMs + HOUR,
      untilMs: pause.fromMs + 2 * HOUR,
      count: 2,
    },
    { verdict: 'fire', tickAtMs: pause.fromMs + 3 * HOUR },
  ])
})

test('deleting a schedule ends its pause: it is not paused when it comes again', async () => {
  const { db, apply } = await setupChanges()
  await apply({ a: HOURLY })
  await pauseSchedules(db, { schedule: 'a' }, BY_ANA)
  await apply({}, { remove: { schedules: ['a'] } })
  expect(await pauseSchedules(db, { schedule: 'a' }, BY_ANA)).toBe('not-found')
  await apply({ a: HOURLY })
  const id = (await findSchedule(db, 'a'))?.id ?? ''
  expect(await listCurrentPauses(db, [id])).toEqual([])
})
