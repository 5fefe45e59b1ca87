import { randomUUID } from 'node:crypto'
import { type Schedule, type ScheduleId, ScheduleSpec, SECOND } from '@jadwal/domain'
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
  expect(book.size).toBe(1)
  book.put([{ ...only, versions: [] }], NOW)
  expect(book.size).toBe(0)
})
