import { expect, test } from 'vitest'
import { withAlerts } from './alert-jobs.ts'
import { allQueues, readQueueList } from './queue-list.ts'

test('a list gives each queue its concurrency, 10 where it says nothing, and its rate, none where it says nothing', () => {
  expect(readQueueList('emails:20, reports')).toEqual([
    { name: 'emails', concurrency: 20 },
    { name: 'reports', concurrency: 10 },
  ])
  expect(readQueueList('emails:20@100/s,sms @ 5/m, push:3@1/h')).toEqual([
    { name: 'emails', concurrency: 20, rate: { max: 100, perMs: 1_000 } },
    { name: 'sms', concurrency: 10, rate: { max: 5, perMs: 60_000 } },
    { name: 'push', concurrency: 3, rate: { max: 1, perMs: 3_600_000 } },
  ])
  expect(allQueues(['b', 'a', 'b'])).toEqual([
    { name: 'a', concurrency: 10 },
    { name: 'b', concurrency: 10 },
  ])
})

test('every worker serves the queue of alerts, unless its list says not to', () => {
  const emails = { name: 'emails', concurrency: 2 }
  expect(withAlerts([emails], undefined)).toEqual([emails, { name: 'alerts', concurrency: 5 }])
  expect(served('emails:2')).toEqual([emails, { name: 'alerts', concurrency: 5 }])
  expect(served('emails:2,alerts:20')).toEqual([emails, { name: 'alerts', concurrency: 20 }])
  expect(served('emails:2,alerts:0')).toEqual([emails])
})

function served(list: string) {
  const queues = readQueueList(list)
  return typeof queues === 'string' ? queues : withAlerts(queues, queues)
}

test('what is wrong with a list is said', () => {
  for (const [list, problem] of [
    ['emails:0', /from 1 to 10000/],
    ['emails:x', /queue:concurrency/],
    ['emails,,x', /queue:concurrency.*"" is not/],
    ['emails:5@0/s', /each rate from 1 to 1000000.*"emails:5@0\/s" is not/],
    ['emails:5@10', /a second \(\/s\), minute \(\/m\) or hour \(\/h\)/],
    ['emails:5@10/d', /"emails:5@10\/d" is not/],
    ['emails@ten/s', /emails:20@100\/s/],
    ['emails@2000000/s', /"emails@2000000\/s" is not/],
    ['Emails', /lower-case/],
    ['ticks', /reserved/],
    ['a.dead', /reserved/],
    ['a:1,a:2', /twice/],
  ] as const) {
    expect(readQueueList(list)).toMatch(problem)
  }
})
