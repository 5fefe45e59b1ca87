import { RunFact, systemClock } from '@jadwal/domain'
import { keys, sweepFailed } from '@jadwal/queue'
import { expect, inject, test } from 'vitest'
import { openBench } from './run-bench.ts'

test('what BullMQ gave up becomes a dead letter with a fact, and what had ended just goes', async () => {
  await using bench = openBench(inject('redisUrl'))
  const given = await bench.add()
  const done = await bench.add()
  await bench.redis.hset(bench.messageKey(given), { ats: 2, failedReason: 'job stalled' })
  await bench.redis.hset(bench.messageKey(done), { ats: 1, jo: '1:succeeded' })
  await giveUp(bench, [given, done])
  const deps = { redis: bench.redis, prefix: bench.prefix, queue: 'emails', clock: systemClock }
  expect(await sweepFailed(deps)).toBe(1)
  expect(await sweepFailed(deps)).toBe(0)

  const facts = await bench.facts()
  expect(facts).toHaveLength(1)
  expect(RunFact.parse(facts[0])).toMatchObject({ id: given, state: 'dead', reason: 'exhausted' })
  const letters = await bench.dead.getJobs(['waiting'])
  expect(letters.map((letter) => letter.id)).toEqual([given])
  expect(await bench.redis.exists(bench.messageKey(given), bench.messageKey(done))).toBe(0)
})

test('a run whose fact cannot be written stays given up, to be swept again', async () => {
  await using bench = openBench(inject('redisUrl'))
  const id = await bench.add()
  await giveUp(bench, [id])
  const outbox = keys.outboxKey(bench.prefix, 'emails')
  const deps = { redis: bench.redis, prefix: bench.prefix, queue: 'emails', clock: systemClock }
  await bench.redis.set(outbox, 'not a stream')
  await expect(sweepFailed(deps)).rejects.toThrow('WRONGTYPE')
  expect(await bench.dead.getJob(id)).toBeUndefined()
  await bench.redis.del(outbox)
  expect(await sweepFailed(deps)).toBe(1)
  expect(await bench.facts()).toMatchObject([{ id, state: 'dead' }])
})

/** Puts messages where BullMQ puts those that it fails by itself. */
async function giveUp(bench: ReturnType<typeof openBench>, ids: readonly string[]): Promise<void> {
  await bench.queue.pause()
  for (const id of ids) {
    await bench.redis.lrem(bench.messageKey('wait'), 1, id)
    await bench.redis.zadd(bench.failedKey, 1, id)
  }
}
