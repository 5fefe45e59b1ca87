import { expect, test } from 'vitest'
import { isEnded, revision, RunState } from './run.ts'

test('four states are ends', () => {
  expect(RunState.options.filter(isEnded)).toEqual(['succeeded', 'dead', 'cancelled', 'skipped'])
})

test('the revision grows along every way that a run can go', () => {
  const ways: [attempt: number, state: RunState][][] = [
    [
      [0, 'queued'],
      [1, 'running'],
      [1, 'succeeded'],
    ],
    [
      [0, 'queued'],
      [1, 'running'],
      [1, 'retrying'],
      [2, 'running'],
      [2, 'dead'],
    ],
    // Drained or rescued: back in the queue with the attempt that was cut short.
    [
      [0, 'queued'],
      [1, 'running'],
      [1, 'queued'],
      [2, 'running'],
      [2, 'succeeded'],
    ],
    [
      [0, 'queued'],
      [1, 'retrying'],
      [1, 'cancelled'],
    ],
    [
      [0, 'queued'],
      [0, 'cancelled'],
    ],
    [
      [0, 'queued'],
      [0, 'skipped'],
    ],
  ]
  for (const way of ways) {
    const revisions = way.map(([attempt, state]) => revision(attempt, state))
    expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b))
  }
})

test('an outcome stands above everything of its own attempt and below the next', () => {
  expect(revision(3, 'succeeded')).toBeGreaterThan(revision(3, 'retrying'))
  expect(revision(4, 'running')).toBeGreaterThan(revision(3, 'dead'))
})
