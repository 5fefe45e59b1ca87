import { expect, test } from 'vitest'
import { checkOverlaps } from './check-overlaps.ts'

const execution = (scheduleId: string, runId: string, [fromMs, untilMs]: [number, number]) => ({
  scheduleId,
  runId,
  fromMs,
  untilMs,
})

test('executions one after the other, or of different schedules, do not overlap', () => {
  expect(
    checkOverlaps([
      execution('a', 'second', [100, 200]),
      execution('a', 'first', [0, 100]),
      execution('b', 'other', [50, 150]),
    ]),
  ).toEqual([])
})

test('it finds an execution that begins before another has ended, also one in between', () => {
  expect(
    checkOverlaps([
      execution('a', 'long', [0, 100]),
      execution('a', 'short', [10, 20]),
      execution('a', 'next', [99, 200]),
    ]),
  ).toEqual([
    'a: short began 90 ms before the end of long',
    'a: next began 1 ms before the end of long',
  ])
})

test('it finds two executions of one run at once', () => {
  expect(
    checkOverlaps([execution('a', 'run', [0, 100]), execution('a', 'run', [0, 50])]),
  ).toHaveLength(1)
})
