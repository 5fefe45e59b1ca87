import { keys } from '@jadwal/queue'
import { eventually, startTestRedis } from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { runFact, runFacts, setup } from './recorder-bench.ts'

test('facts become rows, then their entries go, and the lag is 0', async () => {
  const { put, startRecorder, everythingRecorded } = await setup()
  const facts = runFacts(250)
  await put(...facts.slice(0, 200))
  const { metric } = await startRecorder()
  for (const fact of facts.slice(200)) await put(fact)
  await everythingRecorded(facts.map(({ id }) => id))
  expect(await metric('jadwal_recorded_facts_total')).toBe(250)
  await eventually(async () => expect(await metric('jadwal_outbox_lag_seconds')).toBe(0))
})

test('a queue that comes later is noticed, and so are the terms of the leader', async () => {
  const { redis, prefix, startRecorder, database } = await setup()
  await startRecorder()
  const fact = runFact({ queue: 'reports' })
  await redis.xadd(keys.outboxKey(prefix, 'reports'), '*', 'facts', JSON.stringify(fact))
  await redis.sadd(keys.queuesKey(prefix), 'reports')
  const term = { kind: 'term', term: 1, instance: 's1', from_at: fact.enqueued_at }
  await redis.xadd(keys.outboxKey(prefix, 'scheduler'), '*', 'facts', JSON.stringify(term))
  await eventually(async () => {
    expect(await database.db.selectFrom('runs').select('id').execute()).toEqual([{ id: fact.id }])
    expect(await database.db.selectFrom('leader_terms').select('term').execute()).toHaveLength(1)
  })
})

test('a fact that Postgres refuses is put aside with its reason; all others are recorded', async () => {
  const { redis, prefix, put, startRecorder, everythingRecorded } = await setup()
  const good = runFacts(30)
  const poisoned = [runFact({ result: 'a\u0000b' }), runFact({ finished_at: null })]
  await put(...good.slice(0, 11), ...poisoned, ...good.slice(11))
  await redis.xadd(keys.outboxKey(prefix, 'emails'), '*', 'something', 'else')
  const { metric, outages } = await startRecorder()
  await everythingRecorded(good.map(({ id }) => id))
  const aside = await redis.xrange(keys.outboxRejectedKey(prefix, 'emails'), '-', '+')
  expect(aside.map(([, fields]) => fields)).toEqual([
    ['fact', JSON.stringify(poisoned[0]), 'error', expect.any(String), 'entry', expect.any(String)],
    ['fact', JSON.stringify(poisoned[1]), 'error', expect.any(String), 'entry', expect.any(String)],
    ['fact', '["something","else"]', 'error', expect.any(String), 'entry', expect.any(String)],
  ])
  expect(await metric('jadwal_rejected_facts_total')).toBe(3)
  expect(outages).toEqual([])
})

test('two recorders share the work, and every fact counts once', async () => {
  const { put, startRecorder, everythingRecorded } = await setup()
  const recorders = await Promise.all([startRecorder(), startRecorder()])
  const facts = runFacts(400)
  for (let at = 0; at < facts.length; at += 4) await put(...facts.slice(at, at + 4))
  await everythingRecorded(facts.map(({ id }) => id))
  const counts = await Promise.all(
    recorders.map(({ metric }) => metric('jadwal_recorded_facts_total')),
  )
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(400)
})

test('what a dead recorder has read but not recorded is taken over, and the dead one forgotten', async () => {
  const { redis, outbox, put, openReader, startRecorder, everythingRecorded } = await setup()
  const facts = runFacts(20)
  await put(...facts.slice(0, 10))
  await put(...facts.slice(10))
  const dead = openReader('dead').reader
  await dead.findOutboxes()
  expect(await dead.read()).toHaveLength(2)

  await startRecorder({ claimAfterMs: 300, claimEachMs: 100 })
  await everythingRecorded(facts.map(({ id }) => id))
  await eventually(async () => {
    const consumers = (await redis.xinfo('CONSUMERS', outbox, 'recorder')) as string[][]
    expect(consumers.map(([, name]) => name)).not.toContain('dead')
  })
})

test('stopping records what is still in the outboxes, and leaves the group', async () => {
  const { redis, outbox, put, startRecorder, everythingRecorded } = await setup()
  const { stop } = await startRecorder()
  const facts = runFacts(3_000)
  const puts = Array.from({ length: 30 }, (_, index) =>
    put(...facts.slice(index * 100, index * 100 + 100)),
  )
  await Promise.all(puts)
  await stop()
  await everythingRecorded(
    facts.map(({ id }) => id),
    0,
  )
  expect(await redis.xinfo('CONSUMERS', outbox, 'recorder')).toEqual([])
})

test('a Redis that lost its groups is served on, from the beginning of what is there', async () => {
  const { redis, outbox, put, startRecorder, everythingRecorded } = await setup()
  const { outages } = await startRecorder()
  const facts = runFacts(3)
  await put(facts[0] ?? {})
  await everythingRecorded([facts[0]?.id ?? ''])
  await redis.del(outbox)
  await put(...facts.slice(1))
  await everythingRecorded(facts.map(({ id }) => id))
  expect(outages).toEqual([])
})

test('a Redis that is killed and comes back is served on', async () => {
  const server = await startTestRedis()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { put, startRecorder, everythingRecorded } = await setup({ redisUrl: server.url })
  const { outages } = await startRecorder()
  const facts = runFacts(3)
  await put(facts[0] ?? {})
  await everythingRecorded([facts[0]?.id ?? ''])
  await server.kill()
  await server.start()
  await put(...facts.slice(1))
  await everythingRecorded(facts.map(({ id }) => id))
  expect(outages.length).toBeLessThan(20)
})
