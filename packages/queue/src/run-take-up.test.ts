import { expect, test } from 'vitest'
import { takeUp } from './run-take-up.ts'

test('starts after the last outcome that brought none are lost attempts', () => {
  expect(takeUp({ attempt: 2, failures: 0 }, undefined)).toEqual({ kind: 'run', lost: [1] })
  const drained = { kind: 'drained', attempt: 4 } as const
  expect(takeUp({ attempt: 5, failures: 0 }, drained)).toEqual({ kind: 'run', lost: [] })
  expect(takeUp({ attempt: 7, failures: 0 }, drained)).toEqual({ kind: 'run', lost: [5, 6] })
})

test('the third in a row ends the run', () => {
  expect(takeUp({ attempt: 4, failures: 0 }, undefined)).toEqual({ kind: 'dead', lost: [1, 2, 3] })
})

test('a retry that BullMQ counted is over, one that it did not count is still due', () => {
  const retry = { kind: 'retry', attempt: 1, failures: 1, runAtMs: 5 } as const
  expect(takeUp({ attempt: 2, failures: 1 }, retry)).toEqual({ kind: 'run', lost: [] })
  expect(takeUp({ attempt: 2, failures: 0 }, retry)).toEqual({
    kind: 'retry',
    failures: 1,
    runAtMs: 5,
  })
})
