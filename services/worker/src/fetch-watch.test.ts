import { FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { type Fetching, FetchWatch } from './fetch-watch.ts'

/** A worker whose loop does not move, of a queue in which runs wait. */
function setup() {
  const clock = new FakeClock()
  const worker = { queue: 'mails', concurrency: 2, inHand: 0, taken: 5 }
  const at = { waits: true, isHeld: false, asked: 0 }
  const watch = new FetchWatch({
    workers: [worker satisfies Fetching],
    gate: at,
    workWaits: async () => {
      at.asked += 1
      return at.waits
    },
    clock,
  })
  /** Looks as often as the loop would in so many seconds. */
  const looks = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 10) {
      clock.advance(await watch.look())
    }
  }
  return { watch, worker, at, looks }
}

test('a loop that has taken nothing for a minute while runs wait is stuck, and no more once it takes one', async () => {
  const { watch, worker, looks } = setup()
  await looks(60)
  expect(watch.stuck()).toEqual([])
  await looks(20)
  expect(watch.stuck()).toEqual([
    'no run was taken from the queue mails for a minute, though some wait',
  ])
  worker.taken += 1
  await looks(10)
  expect(watch.stuck()).toEqual([])
})

test.each([
  ['no runs wait', ({ at }: Setup) => (at.waits = false)],
  ['all its hands are full', ({ worker }: Setup) => (worker.inHand = 2)],
  ['it takes none on purpose', ({ at }: Setup) => (at.isHeld = true)],
])('a loop is not stuck while %s', async (_why, arrange) => {
  const all = setup()
  await all.looks(50)
  arrange(all)
  await all.looks(120)
  expect(all.watch.stuck()).toEqual([])
})

test('Redis is asked nothing about a queue whose runs are being taken', async () => {
  const { worker, at, looks } = setup()
  for (let look = 0; look < 5; look += 1) {
    worker.taken += 1
    await looks(10)
  }
  expect(at.asked).toBe(0)
})

type Setup = ReturnType<typeof setup>
