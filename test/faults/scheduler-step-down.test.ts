import { spawnService } from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { expectInTime } from '../support/expect-in-time.ts'
import { expectOrder } from '../support/expect-order.ts'
import { nextSecond, setupSchedulers } from '../support/schedulers.ts'

const STEP_DOWN_MS = 1_000
/** No tick is decided later than this, however busy the machine. */
const LATE_MS = 10_000
const ROUNDS = 8

test('leaders that are asked to step down while they fire leave no tick missing and none doubled', async () => {
  const system = await setupSchedulers({ schedules: 500 })
  const { start, leader, redisUrl, prefix, database } = system
  const api = spawnService('api', {
    REDIS_URL: redisUrl,
    DATABASE_URL: database.url,
    JADWAL_PREFIX: prefix,
    JADWAL_AUTH: 'off',
  })
  onTestFinished(() => api[Symbol.asyncDispose]())
  await Promise.all([api, start(), start()].map(({ ready }) => ready))
  const readyMs = Date.now()
  const answersMs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await leader()
    // Within a few ms after the instant the leader is reading, building or sending what is due.
    await nextSecond(round * 7)
    const askedAtMs = performance.now()
    const answer = await fetch(`http://127.0.0.1:${api.port}/api/v1/leader/step-down`, {
      method: 'POST',
    })
    expect(answer.status).toBe(200)
    answersMs.push(performance.now() - askedAtMs)
    const { instance } = (await answer.json()) as { instance: string }
    expect(instance).not.toContain(`-${before.pid}-`)
  }
  await expectOrder(system, { lateMs: LATE_MS, lateFromMs: readyMs })
  expectInTime(answersMs, STEP_DOWN_MS)
})
