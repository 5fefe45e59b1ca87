import { MINUTE, SECOND } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { minute, passAll, schedule, setup } from './firing-setup.ts'

test('at a take-over what has just come due is fired before all that is long overdue', async () => {
  const { book, lead, facts, now } = await setup()
  const overdue = Array.from({ length: 5_000 }, () =>
    schedule(now, [{ from: minute(now) - 2 * MINUTE, spec: { every: '2m' } }]),
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
