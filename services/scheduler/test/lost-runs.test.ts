import { randomUUID } from 'node:crypto'
import { type ScheduleId, systemClock } from '@jadwal/domain'
import { keys } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import { expect, test } from 'vitest'
import { type LostRunsBench, setupLostRuns as setup } from './setup-lost-runs.ts'

async function twoRounds({ lostRuns }: LostRunsBench): Promise<void> {
  await lostRuns.round()
  await lostRuns.round()
}

/** A message's hash, its options whatever their order. */
function read(hash: Record<string, string>): object {
  return { ...hash, opts: JSON.parse(hash['opts'] ?? '') as object }
}

async function row({ db }: LostRunsBench, id: string) {
  return await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

test('a run of a job that nobody serves is dead, whatever becomes of others', async () => {
  const bench = await setup('unknown-job')
  const id = await bench.queued()
  await twoRounds(bench)
  expect(await bench.facts()).toMatchObject([{ id, state: 'dead', reason: 'lost' }])
})

test('runs whose messages Redis has lost come back, are made once, and their rows go on', async () => {
  const bench = await setup('retry')
  const calls = bench.work()
  const failed = { name: 'Error', message: 'no route' }
  const fresh = await bench.queued({ priority: 3, labels: { team: 'a' }, parent_id: randomUUID() })
  const retrying = await bench.queued({
    state: 'retrying',
    attempt: 2,
    revision: 22,
    error: failed,
    attempt_state: 'failed',
  })
  const running = await bench.queued({
    state: 'running',
    attempt: 2,
    revision: 21,
    attempt_state: 'running',
    worker: 'one that is gone',
  })
  await twoRounds(bench)
  await eventually(async () => {
    const ended = (await bench.facts()).filter((fact) => fact.state === 'succeeded')
    expect(ended).toHaveLength(3)
  })
  await twoRounds(bench)
  const call = (id: string) => calls.find((each) => each.id === id)
  expect(call(fresh)).toMatchObject({ attempt: 1, failures: 0, message: { labels: { team: 'a' } } })
  expect(call(fresh)?.message).toMatchObject({
    v: 1,
    payload: { to: 'a' },
    parentId: expect.any(String),
  })
  expect(call(retrying)).toMatchObject({ attempt: 3, failures: 1 })
  expect(call(running)).toMatchObject({ attempt: 3, failures: 0 })
  const facts = await bench.facts()
  expect(facts.filter((fact) => fact.state === 'queued')).toHaveLength(3)
  await bench.record()
  for (const id of [fresh, retrying, running]) {
    expect(await row(bench, id)).toMatchObject({ state: 'succeeded', payload: { to: 'a' } })
  }
  const attempts = await bench.db
    .selectFrom('attempts')
    .select(['attempt', 'state'])
    .where('run_id', '=', running)
    .orderBy('attempt')
    .execute()
  expect(attempts).toContainEqual({ attempt: 2, state: 'lost' })
  expect(calls).toHaveLength(3)
})

test('the message that is made again is the one that BullMQ would have added', async () => {
  const bench = await setup('retry')
  const runAt = new Date(Math.ceil(systemClock.now().getTime() / 1_000) * 1_000 + 3_600_000)
  const id = await bench.queued({ priority: 4, run_at: runAt.toISOString() })
  await twoRounds(bench)
  const at = keys.bullKey(bench.prefix, 'mails', id)
  const putBack = await bench.redis.hgetall(at)
  expect(Number(await bench.redis.zscore(keys.bullKey(bench.prefix, 'mails', 'delayed'), id))).toBe(
    runAt.getTime() * 4_096,
  )
  await bench.redis.del(at)
  const queue = new Queue('mails', {
    connection: bench.redis,
    prefix: keys.bullPrefix(bench.prefix, 'mails'),
  })
  await queue.add('mail', JSON.parse(putBack['data'] ?? ''), {
    ...JSON.parse(putBack['opts'] ?? ''),
  })
  expect(read(putBack)).toEqual(read(await bench.redis.hgetall(at)))
})

test.each(['skip', 'allow'] as const)(
  'a run of a schedule with overlap %s is one of its unfinished runs again',
  async (overlap) => {
    const bench = await setup('retry', overlap)
    const { redis, prefix } = bench
    const schedule_id = randomUUID() as ScheduleId
    const tick_at = '2026-09-01T10:00:00.000Z'
    const id = await bench.queued({ schedule_id, schedule: 'nightly', tick_at, term: 4 })
    const unfinished = keys.unfinishedKey(prefix, 'mails', schedule_id)
    const other = keys.bullKey(prefix, 'mails', 'other')
    await redis.hset(other, 'name', 'mail')
    await redis.sadd(unfinished, 'other')
    await twoRounds(bench)
    expect(await redis.sismember(unfinished, id)).toBe(overlap === 'allow' ? 1 : 0)
    // It waits for the other one, unless they may run side by side.
    await redis.del(other)
    await bench.lostRuns.round()
    expect(await redis.sismember(unfinished, id)).toBe(1)
    const calls = bench.work()
    await eventually(() => expect(calls).toHaveLength(1))
    expect(calls[0]?.message).toMatchObject({
      attempts: 7,
      schedule: { id: schedule_id, name: 'nightly', tickAt: tick_at, term: 4 },
    })
    await eventually(async () => expect(await redis.sismember(unfinished, id)).toBe(0))
  },
)

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

test('the attempt that a lost run was making is lost with it', async () => {
  const bench = await setup()
  const started = {
    attempt: 1,
    started_at: '2026-09-01T10:00:00.000Z',
    attempt_state: 'running',
  } as const
  const id = await bench.queued({ ...started, state: 'running', revision: 11, worker: 'gone' })
  await twoRounds(bench)
  await bench.record()
  expect(await row(bench, id)).toMatchObject({ state: 'dead', reason: 'lost' })
  const attempts = await bench.db
    .selectFrom('attempts')
    .selectAll()
    .where('run_id', '=', id)
    .execute()
  expect(attempts).toMatchObject([{ attempt: 1, state: 'lost', finished_at: expect.any(Date) }])
})

test('after a large loss one round follows the other at once', async () => {
  const bench = await setup()
  await bench.queuedMany(2_100)
  const waits: number[] = []
  for (let round = 0; round < 4; round += 1) {
    waits.push(await bench.lostRuns.round())
    await bench.record()
  }
  expect(waits).toEqual([0, 0, expect.any(Number), expect.any(Number)])
  expect(waits.at(-1)).toBeGreaterThan(0)
  const dead = await bench.db.selectFrom('runs').select('id').where('state', '=', 'dead').execute()
  expect(dead).toHaveLength(2_100)
}, 60_000)

test('a lost run whose row lacks what its job redacts is dead, and neither made again nor redriven without it', async () => {
  const bench = await setup('retry')
  const id = await bench.queued({ payload: { card: '[redacted]' } })
  const encrypted = { $encrypted: `1.k1.${'n'.repeat(16)}.${'c'.repeat(30)}` }
  const other = await bench.queued({ payload: encrypted })
  await twoRounds(bench)
  await bench.record()
  expect(await row(bench, id)).toMatchObject({
    state: 'dead',
    reason: 'lost',
    error: { message: expect.stringContaining('lacks the values that its job redacts') },
  })
  expect(await row(bench, other)).toMatchObject({ state: 'queued', payload: encrypted })
})
