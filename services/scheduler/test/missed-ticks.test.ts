import { MINUTE, type Schedule } from '@jadwal/domain'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { minute, passAll, schedule, setup } from './firing-setup.ts'

/** Its ticks are too late, all of them. */
function missing(now: number): Schedule {
  const endsAt = new Date(minute(now) - 7 * MINUTE).toISOString()
  const spec = { misfire: { policy: 'skip' as const, after: '1m' }, endsAt }
  return schedule(now, [{ from: minute(now) - 10 * MINUTE, spec }])
}

test('ticks that it was too late for are told once, as one event of each schedule', async () => {
  const { book, lead, facts, events, now } = await setup()
  const missed = missing(now)
  const punctual = schedule(now, [{ from: minute(now) - MINUTE }])
  book.put([missed, punctual], now)
  await passAll(lead(1))
  expect(await facts()).toContainEqual(
    expect.objectContaining({ state: 'skipped', reason: 'misfire', tick_count: 3 }),
  )
  const data = { schedule: 'report', scheduleId: missed.id, count: 3 }
  await eventually(async () => expect(await events()).toEqual([{ type: 'tick.missed', data }]))

  // Another leader finds them decided.
  const later = missing(now)
  book.put([later], now)
  await passAll(lead(2))
  await eventually(async () => expect(await events()).toHaveLength(2))
  expect((await events())[1]).toMatchObject({ data: { scheduleId: later.id } })
})

test('of many schedules whose ticks were missed at once some are told, and how many more there are', async () => {
  const { book, lead, events, now } = await setup()
  book.put(
    Array.from({ length: 60 }, () => missing(now)),
    now,
  )
  await passAll(lead(1))
  await eventually(async () => expect(await events()).toHaveLength(50))
  const told = (await events()) as { data: { more?: number } }[]
  expect(told.map(({ data }) => data.more).filter((more) => more !== undefined)).toEqual([10])
})
