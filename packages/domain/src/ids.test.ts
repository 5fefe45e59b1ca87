import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  firstUuidAt,
  newRunId,
  redriveRunId,
  RunId,
  runIdTimeMs,
  ScheduleId,
  tickRunId,
} from './ids.ts'

const SCHEDULE = ScheduleId.parse('0198c5a0-0000-4000-8000-000000000001')
const OTHER = ScheduleId.parse('0198c5a0-0000-4000-8000-000000000002')
const TICK = Date.parse('2026-09-01T10:00:00Z')

test('whoever fires a tick makes the same id, and no other tick has it', () => {
  expect(tickRunId(SCHEDULE, TICK)).toBe(tickRunId(SCHEDULE, TICK))
  expect(tickRunId(SCHEDULE, TICK + 1_000)).not.toBe(tickRunId(SCHEDULE, TICK))
  expect(tickRunId(OTHER, TICK)).not.toBe(tickRunId(SCHEDULE, TICK))
})

test('the id of a tick is for ever the same, whatever the version that fires it', () => {
  expect(tickRunId(SCHEDULE, TICK)).toBe('01a05c69-4d00-759f-b6da-a4aba96389b8')
})

test('ids are UUIDv7 that carry their instant', () => {
  const cases = fc.tuple(
    fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    fc.uint8Array({ minLength: 10, maxLength: 16 }),
  )
  fc.assert(
    fc.property(cases, ([atMs, random]) => {
      for (const id of [newRunId(atMs, random), tickRunId(SCHEDULE, atMs)]) {
        expect(RunId.safeParse(id).success).toBe(true)
        expect(id[14]).toBe('7')
        expect('89ab').toContain(id[19])
        expect(runIdTimeMs(id)).toBe(atMs)
        expect(id > firstUuidAt(atMs)).toBe(true)
        expect(id < firstUuidAt(atMs + 1) || atMs === 2 ** 48 - 1).toBe(true)
      }
    }),
  )
})

test('ids sort by time', () => {
  const random = new Uint8Array(10).fill(255)
  expect(newRunId(TICK, random) < newRunId(TICK + 1, new Uint8Array(10))).toBe(true)
})

test('an instant before 1970 becomes the first there is', () => {
  expect(firstUuidAt(-5)).toBe('00000000-0000-0000-0000-000000000000')
})

test('a dead run is redriven as the same run by whoever does it, beside the dead one in time', () => {
  fc.assert(
    fc.property(fc.uuid({ version: 7 }), fc.uuid({ version: 7 }), (dead, other) => {
      const id = redriveRunId(dead)
      expect(RunId.safeParse(id).success).toBe(true)
      expect(redriveRunId(dead.toUpperCase())).toBe(id)
      expect(id).not.toBe(dead)
      expect(runIdTimeMs(id)).toBe(runIdTimeMs(dead as RunId))
      expect(redriveRunId(other) === id).toBe(other === dead)
    }),
  )
})
