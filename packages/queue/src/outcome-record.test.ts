import { expect, test } from 'vitest'
import { readStoredOutcome, type StoredOutcome, writeStoredOutcome } from './outcome-record.ts'

const OUTCOMES: StoredOutcome[] = [
  { kind: 'succeeded', attempt: 1 },
  { kind: 'dead', attempt: 12 },
  { kind: 'retry', attempt: 3, failures: 2, runAtMs: 1_767_225_600_000 },
  { kind: 'drained', attempt: 2 },
  { kind: 'left-alone', attempt: 1, lost: 0 },
  { kind: 'left-alone', attempt: 4, lost: 2 },
  { kind: 'left-alone', attempt: 4, lost: 0, sinceMs: 1_767_225_600_000 },
]

test('a stored outcome reads back as it was written', () => {
  for (const outcome of OUTCOMES) {
    expect(readStoredOutcome(writeStoredOutcome(outcome))).toEqual(outcome)
  }
})

test('what is no outcome counts as none', () => {
  for (const text of [
    null,
    '',
    'x:dead',
    '1:lost',
    '1:parked:',
    '1:parked:0:',
    '1:drained:1',
    '1:retry:2',
  ]) {
    expect(readStoredOutcome(text)).toBeUndefined()
  }
})
