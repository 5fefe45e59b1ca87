import { randomBytes, randomUUID } from 'node:crypto'
import { recordFacts } from '@jadwal/db'
import { newRunId, type RunFact, systemClock } from '@jadwal/domain'
import { keys, RedisClock } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { LostRuns } from '../src/lost-runs.ts'

async function setup() {
  const prefix = `lost-${randomUUID()}`
  const redis = new Redis(inject('redisUrl'))
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(async () => {
    redis.disconnect()
    await database[Symbol.asyncDispose]()
  })
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const { db } = database
  const lostRuns = new LostRuns({
    db,
    redis,
    redisClock,
    prefix,
    log: createLogger('scheduler', 'silent', 'test'),
  })
  /** A run of ten minutes ago that the history has as queued. */
  const queued = async (): Promise<string> => {
    const atMs = redisClock.nowMs() - 600_000
    const id = newRunId(atMs, randomBytes(10))
    const fact: RunFact = {
      kind: 'run',
      id,
      revision: 0,
      state: 'queued',
      job: 'mail',
      queue: 'mails',
      payload: { to: 'a' },
      result: null,
      enqueued_at: new Date(atMs).toISOString(),
      attempt: 0,
    }
    await recordFacts(db, [JSON.stringify(fact)])
    return id
  }
  const outbox = keys.outboxKey(prefix, 'mails')
  const facts = async (): Promise<RunFact[]> =>
    (await redis.xrange(outbox, '-', '+')).map(
      ([, fields]) => JSON.parse(fields[1] ?? '') as RunFact,
    )
  return { lostRuns, queued, redis, prefix, outbox, facts }
}

test('a run whose message is gone ends dead after the second look, with a dead letter', async () => {
  const { lostRuns, queued, redis, prefix, facts } = await setup()
  const id = await queued()
  await lostRuns.round()
  expect(await facts()).toEqual([])
  await lostRuns.round()
  expect(await facts()).toMatchObject([{ id, state: 'dead', reason: 'lost', payload: { to: 'a' } }])
  expect(await redis.lrange(keys.deadKey(prefix, 'mails', 'wait'), 0, -1)).toEqual([id])
})

test('a run whose message is there is left alone', async () => {
  const { lostRuns, queued, redis, prefix, facts } = await setup()
  const id = await queued()
  await redis.hset(keys.bullKey(prefix, 'mails', id), 'name', 'mail')
  await lostRuns.round()
  await lostRuns.round()
  expect(await facts()).toEqual([])
})

test('as long as an older fact waits in the outbox nothing is given up', async () => {
  const { lostRuns, queued, redis, outbox, facts } = await setup()
  await queued()
  await redis.xadd(outbox, '*', 'facts', '{}')
  await lostRuns.round()
  await lostRuns.round()
  expect(await facts()).toHaveLength(1)
})
