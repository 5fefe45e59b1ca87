import { eventually, FakeClock } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { RedisClock } from '../src/index.ts'

/** A Redis whose TIME says what the test wants, after as long as the test wants. */
function setup() {
  const clock = new FakeClock()
  const answer = { redisMs: clock.now().getTime(), takesMs: 0 }
  const redis = {
    time: async () => {
      clock.advance(answer.takesMs)
      return [Math.floor(answer.redisMs / 1_000), (answer.redisMs % 1_000) * 1_000]
    },
  } as unknown as Redis
  return { clock, answer, redisClock: new RedisClock(redis, clock) }
}

test('it is never ahead of Redis, whatever the answer took', async () => {
  const { answer, redisClock } = setup()
  answer.takesMs = 80
  await redisClock.measure()
  expect(redisClock.nowMs()).toBe(answer.redisMs)
})

test('a quicker answer makes it more exact and a slower one does not take it back', async () => {
  const { clock, answer, redisClock } = setup()
  answer.takesMs = 80
  await redisClock.measure()
  const before = redisClock.nowMs()
  answer.takesMs = 0
  answer.redisMs += 80
  await redisClock.measure()
  expect(redisClock.nowMs()).toBe(before + 80)
  clock.advance(1_000)
  answer.redisMs += 1_000
  answer.takesMs = 60
  await redisClock.measure()
  expect(redisClock.nowMs()).toBe(answer.redisMs + 60)
})

test.each([-3_600_000, 7_200_000])(
  'it follows when the clock of Redis is set by %d ms, once that is confirmed',
  async (ms) => {
    const { answer, redisClock } = setup()
    await redisClock.measure()
    const before = redisClock.nowMs()
    answer.redisMs += ms
    for (let answers = 0; answers < 3; answers += 1) await redisClock.measure()
    expect(redisClock.nowMs()).toBe(before)
    await redisClock.measure()
    expect(redisClock.nowMs()).toBe(answer.redisMs)
  },
)

test('a clock of Redis that is wrong for a moment changes nothing', async () => {
  const { answer, redisClock } = setup()
  await redisClock.measure()
  const before = redisClock.nowMs()
  answer.redisMs += 86_400_000
  await redisClock.measure()
  answer.redisMs -= 86_400_000
  await redisClock.measure()
  expect(redisClock.nowMs()).toBe(before)
})

test('the skew says how far the wall clock is ahead', async () => {
  const { clock, answer, redisClock } = setup()
  clock.set(answer.redisMs + 10_000)
  await redisClock.measure()
  expect(redisClock.skewMs()).toBe(10_000)
})

test('a real Redis on this machine has no skew to speak of', async () => {
  const redis = new Redis(inject('redisUrl'))
  onTestFinished(() => redis.disconnect())
  const redisClock = new RedisClock(redis, {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
  })
  // The first answer waits for the connection, and any for a busy machine.
  await redis.ping()
  await eventually(async () => {
    await redisClock.measure()
    expect(Math.abs(redisClock.skewMs())).toBeLessThan(500)
  })
})
