import { setTimeout as delay } from 'node:timers/promises'
import { startTestRedis } from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { cutTail } from '../support/cut-tail.ts'
import { expectOrder } from '../support/expect-order.ts'
import { setupSchedulers } from '../support/schedulers.ts'

/** Log lines above info that a service may write in a minute of trouble: some, not a storm. */
const FEW_LINES = 60

async function setup() {
  const redis = await startTestRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  const system = await setupSchedulers({ schedules: 200, redisUrl: redis.url })
  const schedulers = [system.start(), system.start()]
  await Promise.all(schedulers.map((scheduler) => scheduler.ready))
  await system.leader()
  await delay(3_000)
  const expectCalm = async (doubled: unknown = []): Promise<void> => {
    await expectOrder(system, { doubled })
    for (const scheduler of schedulers) {
      const loud = scheduler.logs.filter((line) => /"level":"(warn|error)"/.test(line))
      expect(loud.length).toBeLessThan(FEW_LINES)
      expect(scheduler.child.exitCode).toBeNull()
    }
  }
  return { redis, expectCalm }
}

test('Redis stopped and started: no tick missing, none doubled, all go on by themselves', async () => {
  const { redis, expectCalm } = await setup()
  await redis.stop()
  await delay(4_000)
  await redis.start()
  await delay(3_000)
  await expectCalm()
})

test('Redis killed and started, twice', async () => {
  const { redis, expectCalm } = await setup()
  for (let round = 0; round < 2; round += 1) {
    await redis.kill()
    await delay(1_500)
    await redis.start()
    await delay(3_000)
  }
  // What Redis had accepted and not yet written may be done again, under the same id.
  await expectCalm(expect.any(Array))
})

test('Redis killed and the tail of its append-only file lost: what is left fires each tick', async () => {
  const { redis, expectCalm } = await setup()
  await redis.kill()
  cutTail(redis, 300_000)
  await redis.start()
  await delay(3_000)
  await expectCalm(expect.any(Array))
})
