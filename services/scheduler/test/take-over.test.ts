import { HOUR, MINUTE, SECOND } from '@jadwal/domain'
import { keys } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { minute, passAll, schedule, setup } from './firing-setup.ts'

test('at a take-over what has just come due is fired before all that is long overdue', async () => {
  const { book, lead, facts, now } = await setup()
  const dueAt = minute(now) - 2 * MINUTE
  const offset = `${(dueAt % HOUR) / SECOND}s`
  const overdue = Array.from({ length: 5_000 }, () =>
    schedule(now, [{ from: dueAt - MINUTE, spec: { every: '1h', offset } }]),
  )
  const punctual = schedule(now, [
    { from: now - 2 * SECOND, spec: { every: '2s', endsAt: new Date(now).toISOString() } },
  ])
  book.put([...overdue, { ...punctual, name: 'punctual' }], now)
  const firing = lead(1)
  await firing.pass()
  const [first] = await facts()
  expect(first?.schedule).toBe('punctual')
  expect((await facts()).length).toBeLessThan(overdue.length)
  await passAll(firing)
  const ids = (await facts()).map(({ id }) => id)
  expect(new Set(ids).size).toBe(overdue.length + 1)
  expect(ids).toHaveLength(overdue.length + 1)
})

test('of more schedules than one transaction takes, each fires once', async () => {
  const { book, lead, facts, now } = await setup()
  const due = Array.from({ length: 4_500 }, () =>
    schedule(now, [
      { from: now - SECOND, spec: { every: '1s', endsAt: new Date(now).toISOString() } },
    ]),
  )
  book.put(due, now)
  await passAll(lead(1))
  const ids = (await facts()).map(({ id }) => id)
  expect(ids).toHaveLength(due.length)
  expect(new Set(ids).size).toBe(due.length)
})

test('with the last ticks gone, each version counts once more by its own misfire policy', async () => {
  const { book, lead, facts, redis, prefix, now } = await setup()
  const [first, second] = [minute(now) - 30 * MINUTE, minute(now) - 20 * MINUTE]
  const once = { misfire: { policy: 'once', after: '1s' } } as const
  const edited = schedule(now, [
    { from: first - 10 * MINUTE, until: first, spec: once },
    { from: first, until: second, spec: { misfire: { policy: 'skip', after: '1s' } } },
    { from: second, until: minute(now) - 5 * MINUTE, spec: once },
  ])
  book.put([edited], now)
  const fired = async () =>
    (await facts())
      .filter(({ state }) => state === 'queued')
      .map(({ tick_at }) => Date.parse(tick_at))
  await passAll(lead(1))
  const expected = [first, minute(now) - 5 * MINUTE]
  expect(await fired()).toEqual(expected)
  await redis.del(keys.lastTicksKey(prefix, 'reports'))
  await passAll(lead(2))
  expect(await fired()).toEqual([...expected, ...expected])
})
