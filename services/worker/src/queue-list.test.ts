import { expect, test } from 'vitest'
import { allQueues, readQueueList } from './queue-list.ts'

test('a list gives each queue its concurrency, 10 where it says nothing', () => {
  expect(readQueueList('emails:20, reports')).toEqual([
    { name: 'emails', concurrency: 20 },
    { name: 'reports', concurrency: 10 },
  ])
  expect(allQueues(['b', 'a', 'b'])).toEqual([
    { name: 'a', concurrency: 10 },
    { name: 'b', concurrency: 10 },
  ])
})

test('what is wrong with a list is said', () => {
  for (const [list, problem] of [
    ['emails:0', /from 1 to 10000/],
    ['emails:x', /queue:concurrency/],
    ['emails,,x', /queue:concurrency/],
    ['Emails', /lower-case/],
    ['ticks', /reserved/],
    ['a.dead', /reserved/],
    ['a:1,a:2', /twice/],
  ] as const) {
    expect(readQueueList(list)).toMatch(problem)
  }
})
