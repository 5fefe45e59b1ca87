import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { checkTicks } from '../ledger/check-ticks.ts'
import { LEASE_MS, nextSecond, setupSchedulers } from '../support/schedulers.ts'

/** What a busy machine may add to a promised deadline. */
const SLACK_MS = 1_000
const KILLS = 20

test(
  'a leader killed in the middle of firing, twenty times, leaves no tick missing and none doubled',
  { timeout: 300_000 },
  async () => {
    const { start, leader, redis, consumer, expected } = await setupSchedulers({ schedules: 500 })
    await Promise.all([start().ready, start().ready])
    const takeOversMs: number[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const killed = await leader()
      // Within a few ms after the instant the leader is reading, building or sending what is due.
      await nextSecond(kill * 4)
      await redis.script('FLUSH')
      await killed.kill()
      const killedAtMs = performance.now()
      await leader(killed)
      takeOversMs.push(performance.now() - killedAtMs)
      await start().ready
    }
    const until = Math.floor(Date.now() / 1_000) * 1_000
    const report = await eventually(
      () => {
        const checked = checkTicks(expected(until), consumer.sightings)
        expect(checked.missing).toEqual([])
        return checked
      },
      { timeoutMs: 30_000, everyMs: 500 },
    )
    expect(report).toMatchObject({ doubled: [], early: [], unexpected: [] })
    expect(Math.max(...takeOversMs)).toBeLessThan(LEASE_MS + 1_000 + SLACK_MS)
  },
)

test('a leader that is stopped hands over within a second', async () => {
  const { start, leader, consumer, expected } = await setupSchedulers({ schedules: 500 })
  await Promise.all([start().ready, start().ready])
  for (let round = 0; round < 3; round += 1) {
    const stopped = await leader()
    await nextSecond(20)
    const stoppedAtMs = performance.now()
    const end = stopped.stop()
    await leader(stopped)
    expect(performance.now() - stoppedAtMs).toBeLessThan(1_000 + SLACK_MS)
    expect(await end).toBe(0)
    await start().ready
  }
  const until = Math.floor(Date.now() / 1_000) * 1_000
  await eventually(
    () => {
      const report = checkTicks(expected(until), consumer.sightings)
      expect(report).toMatchObject({ missing: [], doubled: [], early: [], unexpected: [] })
    },
    { timeoutMs: 20_000, everyMs: 500 },
  )
})
