import { randomBytes, randomUUID } from 'node:crypto'
import { findRedrive, insertRedrive, recordFacts, type RedriveRow } from '@jadwal/db'
import { newRunId, redriveRunId, revision, type RunFact, systemClock } from '@jadwal/domain'
import { createDeadLetters, keys, openRedis, producerConnection, RedisClock } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { Redrives } from '../src/redrives.ts'

const QUEUE = 'emails'
const CAUSE = 'aaaaaaaaaaaaaaaa'
const NOW = systemClock.now().getTime()

async function setup() {
  const prefix = `redrives-${randomBytes(4).toString('hex')}`
  const redis = openRedis(producerConnection(inject('redisUrl')), () => undefined)
  const database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  const deadLetters = createDeadLetters({ redis, prefix, clock: systemClock, onError: () => {} })
  onTestFinished(async () => {
    await deadLetters.close()
    redis.disconnect()
    await database[Symbol.asyncDispose]()
  })
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const served = new Map([['email.send', QUEUE]])
  const lead = (): Redrives =>
    new Redrives({
      db,
      redis,
      redisClock,
      prefix,
      catalogue: { queueOf: (job) => served.get(job) },
      deadLetters,
      log: createLogger('scheduler', 'silent', 'test'),
      redisIsFull: () => false,
    })
  const record = (facts: readonly object[]) =>
    recordFacts(
      db,
      facts.map((fact) => JSON.stringify(fact)),
    )
  /** So many dead runs, each dead later than the one before, which Redis has lost. */
  const die = async (count: number, about: Partial<RunFact> = {}): Promise<string[]> => {
    const facts = Array.from({ length: count }, (_, n) => deadFact(n - 60_000, about))
    await record(facts)
    return facts.map(({ id }) => id)
  }
  /** Does what a recorder does. */
  const recordOutbox = async (): Promise<void> => {
    const outbox = keys.outboxKey(prefix, QUEUE)
    const entries = await redis.xrange(outbox, '-', '+')
    const lines = entries.flatMap(([, [, text = '']]) => text.split('\n'))
    if (lines.length === 0) return
    await recordFacts(db, lines)
    await redis.xdel(outbox, ...entries.map(([id]) => id))
  }
  const redrive = async (fields: Partial<RedriveRow> = {}): Promise<string> => {
    const id = randomUUID()
    await insertRedrive(db, {
      id,
      state: 'running',
      rate: null,
      canary: false,
      letters: 0,
      author: 'ana',
      created_at: new Date(NOW),
      ...fields,
      filter: JSON.stringify(fields.filter ?? {}),
    })
    return id
  }
  const waiting = async (): Promise<string[]> =>
    (await redis.lrange(keys.bullKey(prefix, QUEUE, 'wait'), 0, -1)).toReversed()
  /** Ends all runs that wait: in success, or dead of the cause. */
  const finish = async (fingerprint?: string): Promise<number> => {
    await recordOutbox()
    const ids = await waiting()
    const olds = await db.selectFrom('settled_letters').selectAll().execute()
    await record(
      ids.map((id) => ({
        ...deadFact(5_000),
        id,
        redrive_of: olds.find((row) => row.redriven_as === id)?.run_id,
        fingerprint,
        ...(fingerprint === undefined ? { state: 'succeeded', reason: null } : {}),
      })),
    )
    await redis.del(keys.bullKey(prefix, QUEUE, 'wait'))
    return ids.length
  }
  return { db, lead, die, served, recordOutbox, redrive, waiting, finish, find: findRedrive }
}

function deadFact(afterMs: number, about: Partial<RunFact> = {}): RunFact {
  const at = new Date(NOW + afterMs).toISOString()
  return {
    kind: 'run',
    id: newRunId(NOW, randomBytes(10)),
    revision: revision(3, 'dead'),
    state: 'dead',
    reason: 'failed',
    job: 'email.send',
    queue: QUEUE,
    payload: {},
    enqueued_at: at,
    finished_at: at,
    attempt: 3,
    fingerprint: CAUSE,
    ...about,
  }
}

test('redrives the letters that match and died before it was asked for, oldest first, and is done when all are recorded', async () => {
  const t = await setup()
  const ids = await t.die(3)
  await t.die(1, { job: 'other' })
  await t.die(1, { finished_at: new Date(NOW + 1_000).toISOString() })
  const id = await t.redrive({ filter: { job: 'email.send' } })
  const leader = t.lead()
  await leader.round()
  await leader.round()
  expect(await t.waiting()).toEqual(ids.map(redriveRunId))
  expect(await t.find(t.db, id)).toMatchObject({ state: 'running' })
  await t.recordOutbox()
  await leader.round()
  await leader.round()
  expect(await t.find(t.db, id)).toMatchObject({ state: 'done', refused: 0, problem: null })
})

test('a leader that takes over before anything was recorded makes no letter a second run', async () => {
  const t = await setup()
  const ids = await t.die(20)
  await t.redrive()
  await Promise.all([t.lead().round(), t.lead().round()])
  await t.lead().round()
  expect((await t.waiting()).toSorted()).toEqual(ids.map(redriveRunId).toSorted())
})

test('a letter whose job nobody serves is left, told, and counted', async () => {
  const t = await setup()
  await t.die(2, { job: 'gone' })
  const id = await t.redrive()
  await t.lead().round()
  expect(await t.find(t.db, id)).toMatchObject({
    state: 'done',
    refused: 2,
    problem: 'no worker has served the job gone yet',
  })
})

test('makes no more runs a second than its rate', async () => {
  const t = await setup()
  await t.die(20)
  await t.redrive({ rate: 4 })
  const leader = t.lead()
  for (let round = 0; round < 5; round += 1) await leader.round()
  expect((await t.waiting()).length).toBeLessThanOrEqual(4)
})

test('a canary goes with one, then ten, then the rest, each when the runs before have ended, whoever leads', async () => {
  const t = await setup()
  await t.die(15)
  const id = await t.redrive({ canary: true })
  const rounds = async (): Promise<void> => {
    for (const leader of [t.lead(), t.lead()]) {
      await leader.round()
      await leader.round()
    }
  }
  await rounds()
  await rounds()
  expect(await t.finish()).toBe(1)
  await rounds()
  expect(await t.finish('another cause')).toBe(10)
  await rounds()
  expect(await t.finish()).toBe(4)
  await rounds()
  expect(await t.find(t.db, id)).toMatchObject({ state: 'done' })
})

test('a canary stops when a run of it dies of the cause of its letter, in any step', async () => {
  const t = await setup()
  for (const size of [1, 10, 4]) {
    const id = await t.redrive({ canary: true })
    await t.die(15)
    for (;;) {
      for (let round = 0; round < 3; round += 1) await t.lead().round()
      if ((await t.waiting()).length === size) break
      expect(await t.finish()).toBeGreaterThan(0)
    }
    await t.finish(CAUSE)
    await t.lead().round()
    expect(await t.find(t.db, id)).toMatchObject({
      state: 'stopped',
      returned_fingerprint: CAUSE,
      returned_run: expect.any(String),
    })
    await t.db.deleteFrom('runs').execute()
  }
})

test('a canary whose letter was discarded meanwhile goes on with others', async () => {
  const t = await setup()
  const [first = ''] = await t.die(2)
  const id = await t.redrive({ canary: true, step: 1, canary_letters: [first] })
  const letter = { at: new Date(NOW).toISOString(), by: 'bo', reason: 'a test' }
  await recordFacts(t.db, [JSON.stringify({ kind: 'letter', id: first, letter })])
  const leader = t.lead()
  for (let round = 0; round < 3; round += 1) await leader.round()
  expect(await t.find(t.db, id)).toMatchObject({ step: 2 })
  expect(await t.finish()).toBe(1)
})
