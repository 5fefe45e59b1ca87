import { expect, test } from 'vitest'
import { expectInTime } from '../support/expect-in-time.ts'
import { expectOrder } from '../support/expect-order.ts'
import { LEASE_MS, nextSecond, setupSchedulers } from '../support/schedulers.ts'

const TAKE_OVER_MS = LEASE_MS + 1_000
const HAND_OVER_MS = 1_000
/** No tick is decided later than this, however busy the machine. */
const LATE_MS = 30_000
const KILLS = 20

test(
  'a leader killed in the middle of firing, twenty times, leaves no tick missing and none doubled',
  { timeout: 300_000 },
  async () => {
    const system = await setupSchedulers({ schedules: 500 })
    const { start, leader, redis } = system
    // One standby takes over, while the one after it is still starting.
    const standbys = [start(), start(), start()]
    await Promise.all(standbys.map(({ ready }) => ready))
    const readyMs = Date.now()
    const takeOversMs: number[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const killed = await leader()
      await standbys.at(-2)?.ready
      // Within a few ms after the instant the leader is reading, building or sending what is due.
      await nextSecond(kill * 4)
      await redis.script('FLUSH')
      await killed.kill()
      const killedAtMs = performance.now()
      await leader(killed)
      takeOversMs.push(performance.now() - killedAtMs)
      standbys.push(start())
    }
    await expectOrder(system, { lateMs: LATE_MS, lateFromMs: readyMs })
    expectInTime(takeOversMs, TAKE_OVER_MS)
  },
)

test('a leader that is stopped hands over within a second', async () => {
  const system = await setupSchedulers({ schedules: 500 })
  const { start, leader } = system
  const standbys = [start(), start(), start()]
  await Promise.all(standbys.map(({ ready }) => ready))
  const readyMs = Date.now()
  const handOversMs: number[] = []
  for (let round = 0; round < 3; round += 1) {
    const stopped = await leader()
    await standbys.at(-2)?.ready
    await nextSecond(20)
    const stoppedAtMs = performance.now()
    const end = stopped.stop()
    await leader(stopped)
    handOversMs.push(performance.now() - stoppedAtMs)
    expect(await end).toBe(0)
    standbys.push(start())
  }
  await expectOrder(system, { lateMs: LATE_MS, lateFromMs: readyMs })
  expectInTime(handOversMs, HAND_OVER_MS)
})
