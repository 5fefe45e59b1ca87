import { expect, test } from 'vitest'
import type { StoredOutcome } from './outcome-record.ts'
import { takeUp as takeUpBy } from './run-take-up.ts'

function takeUp(run: { attempt: number; failures: number }, stored: StoredOutcome | undefined) {
  return takeUpBy(run, stored, 'retry')
}

test('starts after the last outcome that brought none are lost attempts', () => {
  expect(takeUp({ attempt: 2, failures: 0 }, undefined)).toEqual({
    kind: 'run',
    lost: [1],
    lostBefore: 0,
  })
  const drained = { kind: 'drained', attempt: 4 } as const
  expect(takeUp({ attempt: 5, failures: 0 }, drained)).toEqual({
    kind: 'run',
    lost: [],
    lostBefore: 0,
  })
  expect(takeUp({ attempt: 7, failures: 0 }, drained)).toEqual({
    kind: 'run',
    lost: [5, 6],
    lostBefore: 0,
  })
})

test('the third in a row ends the run', () => {
  expect(takeUp({ attempt: 4, failures: 0 }, undefined)).toEqual({
    kind: 'dead',
    lost: [1, 2, 3],
    lostBefore: 0,
  })
})

test('attempts that were lost while their run was being ended are told, too, the last twenty', () => {
  expect(takeUp({ attempt: 7, failures: 0 }, undefined)).toMatchObject({
    kind: 'dead',
    lost: [1, 2, 3, 4, 5, 6],
  })
  const after = takeUp({ attempt: 1_000, failures: 0 }, { kind: 'drained', attempt: 9 })
  expect(after).toMatchObject({ kind: 'dead', lost: Array.from({ length: 20 }, (_, i) => 980 + i) })
})

test('a retry that BullMQ counted is over, one that it did not count is still due', () => {
  const retry = { kind: 'retry', attempt: 1, failures: 1, runAtMs: 5 } as const
  expect(takeUp({ attempt: 2, failures: 1 }, retry)).toEqual({
    kind: 'run',
    lost: [],
    lostBefore: 0,
  })
  expect(takeUp({ attempt: 2, failures: 0 }, retry)).toEqual({
    kind: 'retry',
    failures: 1,
    runAtMs: 5,
  })
})

test('a run that was left alone keeps its lost attempts, of which was told then', () => {
  const leftAlone = { kind: 'left-alone', attempt: 4, lost: 1 } as const
  expect(takeUp({ attempt: 5, failures: 0 }, leftAlone)).toEqual({
    kind: 'run',
    lost: [],
    lostBefore: 1,
  })
  expect(takeUp({ attempt: 6, failures: 0 }, leftAlone)).toEqual({
    kind: 'run',
    lost: [5],
    lostBefore: 1,
  })
  expect(takeUp({ attempt: 7, failures: 0 }, leftAlone)).toEqual({
    kind: 'dead',
    lost: [5, 6],
    lostBefore: 1,
  })
})

test('to park is no outcome, to be drained is one', () => {
  const leftAlone = { kind: 'left-alone', attempt: 9, lost: 2 } as const
  expect(takeUp({ attempt: 11, failures: 0 }, leftAlone)).toMatchObject({
    kind: 'dead',
    lost: [10],
  })
  const drained = { kind: 'drained', attempt: 9 } as const
  expect(takeUp({ attempt: 11, failures: 0 }, drained)).toMatchObject({ kind: 'run', lost: [10] })
})

function of(attempt: number, stored?: StoredOutcome): unknown {
  return takeUpBy({ attempt, failures: 0 }, stored, 'dead-letter')
}

test('of a job that is not to be made again, the first lost attempt ends the run, and no other end does', () => {
  expect(of(2)).toEqual({ kind: 'dead', lost: [1], lostBefore: 0 })
  expect(of(3, { kind: 'drained', attempt: 2 })).toMatchObject({ kind: 'run', lost: [] })
  expect(of(4, { kind: 'drained', attempt: 2 })).toMatchObject({ kind: 'dead', lost: [3] })
  expect(of(3, { kind: 'left-alone', attempt: 2, lost: 0 })).toMatchObject({ kind: 'run' })
  // It was lost before a worker that does not know the job left it alone.
  expect(of(3, { kind: 'left-alone', attempt: 2, lost: 1 })).toMatchObject({
    kind: 'dead',
    lost: [],
  })
})
