import { randomBytes } from 'node:crypto'
import {
  DEFAULT_BACKOFF,
  type JobDescription,
  newRunId,
  revision,
  type RunFact,
  systemClock,
} from '@jadwal/domain'
import { keys, publishCatalogue } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { cancelRun, endLostRun, registerQueues, RunFollower, sweepFailed } from '../src/index.ts'
import { openBench } from './run-bench.ts'
import { setupOverlap } from './setup-overlap.ts'

const QUEUE = 'emails'
const EMAIL: JobDescription = {
  name: 'email.send',
  queue: QUEUE,
  attempts: 1,
  backoff: DEFAULT_BACKOFF,
  timeoutMs: 1_000,
  payloadSchema: {},
}
const SECRET = { password: 'hunter2' }

/** What is kept for those who follow a run. */
async function toldOf({ redis, prefix }: ReturnType<typeof openBench>, id: string) {
  return await redis.get(keys.endedKey(prefix, QUEUE, id))
}

async function setup() {
  const url = inject('redisUrl')
  const bench = openBench(url)
  await registerQueues(bench.redis, bench.prefix, [QUEUE])
  const follower = new RunFollower({ url, prefix: bench.prefix, onError: () => {} })
  onTestFinished(async () => {
    follower.close()
    await bench[Symbol.asyncDispose]()
  })
  return { bench, follower }
}

test('who follows a run is told that it was lost', async () => {
  const { bench, follower } = await setup()
  const { redis, prefix } = bench
  const id = await bench.add()
  const run = follower.follow(id)
  expect(await follower.look(run)).toEqual({ state: 'unfinished' })
  await redis.del(bench.messageKey(id))
  const told = follower.changed(run, AbortSignal.timeout(30_000))
  const fact: RunFact = {
    kind: 'run',
    id,
    revision: revision(1, 'dead'),
    state: 'dead',
    reason: 'lost',
    job: 'email.send',
    queue: QUEUE,
    payload: SECRET,
    enqueued_at: systemClock.now().toISOString(),
    attempt: 1,
  }
  const lost = { id, queue: QUEUE, fact, leaves: '', letter: ['name', 'x'] }
  expect(await endLostRun(redis, prefix, lost)).toBe(true)
  await told
  expect(await follower.look(run)).toEqual({ state: 'ended', fact: { ...fact, payload: null } })
  expect(await toldOf(bench, id)).not.toContain('hunter2')
})

test('who follows a run is told that BullMQ gave it up', async () => {
  const { bench, follower } = await setup()
  const { redis, prefix } = bench
  const id = await bench.add({ v: 1, payload: SECRET })
  const run = follower.follow(id)
  await follower.look(run)
  await redis.lrem(keys.bullKey(prefix, QUEUE, 'wait'), 0, id)
  await redis.zadd(bench.failedKey, 1, id)
  await sweepFailed({ redis, prefix, queue: QUEUE, clock: systemClock })
  const look = await eventually(async () => {
    const seen = await follower.look(run)
    expect(seen.state).toBe('ended')
    return seen
  })
  expect(look).toMatchObject({ fact: { id, state: 'dead', reason: 'exhausted', payload: null } })
  expect(await toldOf(bench, id)).not.toContain('hunter2')
})

test('who follows a run that waits is told that it was cancelled', async () => {
  const { bench, follower } = await setup()
  const { redis, prefix } = bench
  // Of a job that nobody has published, the fact would not tell the payload.
  await publishCatalogue(redis, prefix, [EMAIL])
  const id = await bench.add({ v: 1, payload: SECRET })
  const run = follower.follow(id)
  await follower.look(run)
  const deps = { redis, prefix, nowIso: systemClock.now().toISOString() }
  expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toMatchObject({
    result: 'cancelled',
  })
  expect(await follower.look(run)).toMatchObject({
    state: 'ended',
    fact: { id, state: 'cancelled', reason: 'cancelled', payload: null },
  })
  expect(await toldOf(bench, id)).not.toContain('hunter2')
  expect(await bench.facts()).toMatchObject([{ id, payload: SECRET }])
})

test('who follows a held run is told that a later one took its place', async () => {
  const { fire, work, isRunning, held, facts, redis, prefix } = await setupOverlap(
    inject('redisUrl'),
    SECRET,
  )
  await registerQueues(redis, prefix, [QUEUE])
  const follower = new RunFollower({ url: inject('redisUrl'), prefix, onError: () => {} })
  onTestFinished(() => follower.close())
  work()
  await isRunning(await fire('queue-latest'))
  const second = await fire('queue-latest')
  expect(await held()).toBe(second)
  const run = follower.follow(second)
  expect(await follower.look(run)).toEqual({ state: 'unfinished' })
  const told = follower.changed(run, AbortSignal.timeout(30_000))
  await fire('queue-latest')
  await told
  expect(await follower.look(run)).toMatchObject({
    state: 'ended',
    fact: { id: second, state: 'cancelled', reason: 'superseded', payload: null },
  })
  expect(await redis.get(keys.endedKey(prefix, QUEUE, second))).not.toContain('hunter2')
  expect(await facts()).toContainEqual(
    expect.objectContaining({ id: second, reason: 'superseded', payload: SECRET }),
  )
})

test('the end of a run that nobody follows is kept nowhere beside the outbox', async () => {
  const { bench } = await setup()
  const { redis, prefix } = bench
  const id = await bench.add()
  bench.work(() => ({ kind: 'succeeded' }))
  await eventually(async () => expect(await redis.exists(bench.messageKey(id))).toBe(0))
  expect(
    await redis.exists(keys.endedKey(prefix, QUEUE, id), keys.followedKey(prefix, QUEUE)),
  ).toBe(0)
})

test('a run that nobody knows is gone', async () => {
  const { follower } = await setup()
  const run = follower.follow(newRunId(Date.now(), randomBytes(10)))
  expect(await follower.look(run)).toEqual({ state: 'gone' })
})
