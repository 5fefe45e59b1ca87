import { randomUUID } from 'node:crypto'
import { MINUTE, type Schedule, type ScheduleId, ScheduleSpec, SECOND } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { ScheduleBook } from '../src/schedule-book.ts'

const NOW = Date.parse('2026-09-01T10:00:00Z')

function schedule(every: string, until?: number): Schedule {
  const spec = ScheduleSpec.parse({ job: 'report', every })
  const version = {
    version: 1,
    fromMs: NOW,
    spec,
    ...(until === undefined ? {} : { untilMs: until }),
  }
  return { id: randomUUID() as ScheduleId, name: every, versions: [version] }
}

test('schedules of one cadence are due together, each tick once', () => {
  const book = new ScheduleBook()
  const [a, b, c] = [schedule('2s'), schedule('2s'), schedule('7s')]
  book.put([a, b, c], NOW)
  book.collectDue(NOW)
  expect([...book.cadenceKeys()]).toHaveLength(2)
  expect(book.nextDueMs()).toBe(NOW + 2 * SECOND)
  expect(book.collectDue(NOW + SECOND)).toEqual([])
  expect(book.collectDue(NOW + 2 * SECOND).toSorted()).toEqual([a.id, b.id].toSorted())
  expect(book.collectDue(NOW + 2 * SECOND)).toEqual([])
})

test('a changed schedule is looked at at once, for what its old version owes', () => {
  const book = new ScheduleBook()
  const only = schedule('1h')
  book.put([only], NOW)
  expect(book.nextDueMs()).toBe(0)
  expect(book.collectDue(NOW)).toEqual([only.id])
})

test('a deleted schedule has no next tick, and one without versions is forgotten', () => {
  const book = new ScheduleBook()
  const only = schedule('1s')
  book.put([only], NOW)
  book.put([{ ...only, versions: schedule('1s', NOW + 10).versions }], NOW)
  expect(book.collectDue(NOW)).toEqual([only.id])
  // By the clock of Redis its end is still to come: until then it may owe a tick.
  expect(book.nextDueMs()).toBe(NOW + 10)
  expect(book.collectDue(NOW + 10)).toEqual([only.id])
  expect(book.nextDueMs()).toBe(Infinity)
  expect(book.get(only.id)).toBeDefined()
  book.put([{ ...only, versions: [] }], NOW)
  expect(book.get(only.id)).toBeUndefined()
})

test('while a change lies ahead the old version ticks on, and then only the new one', () => {
  const book = new ScheduleBook()
  const endMs = NOW + 5 * SECOND
  const [old] = schedule('2s', endMs).versions
  const only = schedule('3s')
  const [next] = only.versions
  if (!old || !next) throw new Error('a schedule has a version')
  book.put([schedule('1m'), { ...only, versions: [old] }], NOW)
  book.put([{ ...only, versions: [old, { ...next, version: 2, fromMs: endMs }] }], NOW)
  book.collectDue(NOW)
  expect([...book.cadenceKeys()].toSorted()).toEqual([
    'every 2000 0',
    'every 3000 0',
    'every 60000 0',
  ])
  for (const after of [2, 3, 4, 5]) {
    expect(book.nextDueMs()).toBe(NOW + after * SECOND)
    expect(book.collectDue(NOW + after * SECOND)).toEqual([only.id])
  }
  expect([...book.cadenceKeys()].toSorted()).toEqual(['every 3000 0', 'every 60000 0'])
  expect(book.nextDueMs()).toBe(NOW + 6 * SECOND)
})

test('a change that keeps the cadence makes no tick due twice and none lost', () => {
  const book = new ScheduleBook()
  const endMs = NOW + 3 * SECOND
  const [old] = schedule('2s', endMs).versions
  const only = schedule('2s')
  const [next] = only.versions
  if (!old || !next) throw new Error('a schedule has a version')
  book.put([{ ...only, versions: [old, { ...next, version: 2, fromMs: endMs }] }], NOW)
  book.collectDue(NOW)
  // Late, so that the end and a tick of the group fall together.
  expect(book.collectDue(NOW + 5 * SECOND)).toEqual([only.id])
  expect(book.nextDueMs()).toBe(NOW + 6 * SECOND)
})

test('deleted schedules do not count, and what ended long ago is forgotten', () => {
  const book = new ScheduleBook()
  const [deleted, live] = [schedule('1m', NOW - 10), schedule('1m')]
  const [ended] = schedule('1h', NOW - 10).versions
  if (!ended) throw new Error('a schedule has a version')
  book.put([deleted, { ...live, versions: [ended, ...live.versions] }], NOW)
  expect(book.size).toBe(1)
  book.forget(NOW - 10)
  expect(book.get(live.id)?.versions).toHaveLength(2)
  book.collectDue(NOW)
  book.forget(NOW)
  expect(book.get(deleted.id)).toBeUndefined()
  expect(book.get(live.id)?.versions).toEqual(live.versions)
  expect(book.size).toBe(1)
  expect(book.collectDue(NOW + MINUTE)).toEqual([live.id])
})
