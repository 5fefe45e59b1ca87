import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readScheduleRevision, type SchedulePlan } from '../src/index.ts'
import { DAILY, given, HOURLY, setupChanges } from './change-setup.ts'

function namesOf({ added, changed, removed, unchanged, foreign, calendars }: SchedulePlan) {
  return {
    added: names(added),
    changed: names(changed),
    removed: names(removed),
    unchanged,
    foreign,
    calendars,
  }
}

function names(planned: { name: string }[]): string[] {
  return planned.map(({ name }) => name)
}

test('a plan tells what each was and would be, and changes nothing', async () => {
  const { db, apply, plan } = await setupChanges()
  await apply({ a: HOURLY, b: HOURLY, c: HOURLY })
  const revision = await readScheduleRevision(db)
  const planned = await plan({ a: DAILY, b: HOURLY, d: DAILY }, { prune: true })
  expect(planned).toMatchObject({
    added: [{ name: 'd', after: { spec: DAILY } }],
    changed: [{ name: 'a', before: { spec: HOURLY }, after: { spec: DAILY } }],
    removed: [{ name: 'c', before: { spec: HOURLY } }],
    unchanged: ['b'],
    problems: [],
  })
  expect(await readScheduleRevision(db)).toBe(revision)
  expect(namesOf(await plan({ a: HOURLY, b: HOURLY, c: HOURLY }))).toMatchObject({
    added: [],
    changed: [],
    removed: [],
  })
})

test('what a plan says is what applying does, whatever there was', async () => {
  const { db, apply, plan } = await setupChanges()
  const calendarNames = ['x', 'y']
  const spec = fc.record({
    job: fc.constant('a'),
    every: fc.constantFrom('1m', '2m'),
    calendars: fc.record({ skip: fc.subarray(calendarNames) }),
  })
  const calendar = fc.record({ dates: fc.subarray(['12-24', '12-25']) })
  const change = fc.record({
    schedules: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), spec),
    calendars: fc.dictionary(fc.constantFrom(...calendarNames), calendar),
    prune: fc.boolean(),
    source: fc.constantFrom('file' as const, 'api' as const),
  })
  const refused = new Set<boolean>()
  await fc.assert(
    fc.asyncProperty(change, async ({ schedules, calendars, ...rest }) => {
      const changes = { ...rest, calendars: given(calendars) }
      const planned = await plan(schedules, changes)
      const before = await readScheduleRevision(db)
      const applied = await apply(schedules, changes).catch((error: unknown) => error)
      const again = await plan(schedules, changes)
      const isRefused = planned.problems.length > 0
      refused.add(isRefused)
      expect(applied).toMatchObject(
        isRefused ? { code: 'CHANGE_REFUSED', problems: planned.problems } : namesOf(planned),
      )
      const nothing = { added: [], changed: [], removed: [] }
      expect(namesOf(again)).toMatchObject(
        isRefused ? namesOf(planned) : { ...nothing, calendars: nothing },
      )
      const isChanged = (await readScheduleRevision(db)) !== before
      expect(isChanged).toBe(!isRefused && changesAnything(planned))
    }),
    { numRuns: 60 },
  )
  expect(refused.size).toBe(2)
})

function changesAnything({ added, changed, removed, calendars }: SchedulePlan): boolean {
  const all = [added, changed, removed, calendars.added, calendars.changed, calendars.removed]
  return all.some((each) => each.length > 0)
}
