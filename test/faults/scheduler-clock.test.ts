import { applySchedules } from '@jadwal/db'
import { expect, test } from 'vitest'
import { expectOrder } from '../support/expect-order.ts'
import { nextSecond, setupSchedulers } from '../support/schedulers.ts'
import { shiftedClock } from '../support/shifted-clock.ts'

const AHEAD_MS = 10_000
const JITTER_MS = 900
/** What a busy machine may add. */
const SLACK_MS = 8_000

test('a scheduler whose clock is 10 s off leads when nobody else does, and fires each tick at its time', async () => {
  const system = await setupSchedulers({ schedules: 50 })
  const { start, leader, database, consumer } = system
  await applySchedules(database.db, {
    schedules: [
      {
        name: 'jittered',
        input: { job: 'noted', every: '1s', overlap: 'allow', jitter: `${JITTER_MS}ms` },
      },
    ],
    prune: false,
    source: 'file',
    author: 'test',
  })
  const right = start()
  expect(await leader()).toBe(right)
  const ahead = start(shiftedClock(AHEAD_MS))
  await ahead.ready
  await nextSecond()
  expect(await leader()).toBe(right)
  await right.kill()
  expect(await leader(right)).toBe(ahead)
  await ahead.waitForLog('leading although the clock is wrong')
  const behind = start(shiftedClock(-AHEAD_MS))
  await behind.ready
  await nextSecond()
  await ahead.kill()
  expect(await leader(ahead)).toBe(behind)
  // Both would like to lead: it is the one that is right who does.
  const others = [start(shiftedClock(AHEAD_MS)), start()]
  await Promise.all(others.map(({ ready }) => ready))
  await nextSecond()
  await behind.kill()
  expect(await leader(behind)).toBe(others[1])
  await nextSecond()

  await expectOrder(system)
  const jittered = await database.db
    .selectFrom('schedules')
    .select('id')
    .where('name', '=', 'jittered')
    .executeTakeFirstOrThrow()
  const waits = consumer.sightings
    .filter(({ scheduleId }) => scheduleId === jittered.id)
    .map(({ tickAtMs, seenAtMs }) => seenAtMs - tickAtMs)
  expect(Math.min(...waits)).toBeGreaterThan(0)
  expect(Math.min(...waits)).toBeLessThan(JITTER_MS + SLACK_MS)
})
