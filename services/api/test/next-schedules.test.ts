import { applySchedules, type Db, pauseSchedules, resumeSchedules } from '@jadwal/db'
import { DAY, HOUR, systemClock } from '@jadwal/domain'
import { createTestDatabase, FakeClock } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { NextSchedules } from '../src/next-schedules.ts'

async function setup(schedules: Record<string, object>) {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { db } = database
  await apply(db, schedules)
  // Ahead of Postgres, so that what has begun there has begun here.
  const clock = new FakeClock(systemClock.now().getTime() + DAY)
  const next = new NextSchedules(db, clock)
  const shown = async (count = 50) => {
    const { first, more } = await next.first(count)
    const ticks = first.map(({ name, nextTick, isPaused }) => {
      const inMs = nextTick === null ? null : Date.parse(nextTick) - clock.now().getTime()
      return { name, inMs, isPaused }
    })
    return { ticks, more }
  }
  return { db, clock, shown }
}

async function apply(db: Db, schedules: Record<string, object>, prune = false): Promise<void> {
  const given = Object.entries(schedules).map(([name, input]) => ({
    name,
    input: { job: 'email.send', ...input },
  }))
  await applySchedules(db, { schedules: given, prune, source: 'file', author: 'test' })
}

test('one that rests until a time rests no more when that has come', async () => {
  const { db, clock, shown } = await setup({ hourly: { every: '1h' } })
  const until = new Date(clock.now().getTime() + 3 * HOUR)
  await pauseSchedules(db, { schedule: 'hourly' }, { author: 'test', reason: null, until })
  const [resting] = (await shown()).ticks
  expect(resting?.isPaused).toBe(true)
  expect(resting?.inMs).toBeGreaterThan(3 * HOUR)
  clock.advance(3 * HOUR + 1)
  const [awake] = (await shown()).ticks
  expect(awake?.isPaused).toBe(false)
  expect(awake?.inMs).toBeLessThanOrEqual(HOUR)
})

test('a pause of everything, and its end, hold for schedules that have not changed', async () => {
  const { db, shown } = await setup({ hourly: { every: '1h' } })
  expect((await shown()).ticks).toMatchObject([{ isPaused: false }])
  await pauseSchedules(db, 'everything', { author: 'test', reason: null, until: null })
  expect((await shown()).ticks).toEqual([{ name: 'hourly', inMs: null, isPaused: true }])
  await resumeSchedules(db, 'everything', 'test')
  const [awake] = (await shown()).ticks
  expect(awake?.isPaused).toBe(false)
  expect(awake?.inMs).toBeLessThanOrEqual(HOUR)
})

test('the first ones are those that fire next, also after some have changed, gone or fired', async () => {
  const { db, clock, shown } = await setup({
    a: { every: '9d' },
    b: { every: '2h' },
    c: { every: '1h' },
    over: { every: '1m', endsAt: '2026-01-01T00:00:00Z' },
  })
  const names = async (count: number) => {
    const { ticks, more } = await shown(count)
    return [...ticks.map(({ name }) => name), more]
  }
  expect((await names(1)).at(-1)).toBe(3)
  expect((await names(4)).slice(2)).toEqual(['a', 'over', 0])
  await apply(db, { a: { every: '1s' }, b: { every: '8d' } }, true)
  expect(await names(3)).toEqual(['a', 'b', 0])
  clock.advance(HOUR)
  expect((await shown()).ticks[0]?.inMs).toBeLessThanOrEqual(1_000)
})
