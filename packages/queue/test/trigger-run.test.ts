import { randomUUID } from 'node:crypto'
import {
  type OverlapPolicy,
  type RunId,
  type ScheduleId,
  systemClock,
  tickRunId,
} from '@jadwal/domain'
import {
  createTrigger,
  FiringQueue,
  keys,
  openRedis,
  producerConnection,
  redisReady,
  type RunEnd,
  runMessageOptions,
  type TriggerRequest,
  TryLaterError,
} from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBench } from './run-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const QUEUE = 'emails'
const NOW = '2026-09-01T10:00:00.000Z'
const TICK = Date.parse(NOW)
const reign = { term: 7, trusted: () => true }

/** One schedule that a test triggers, and a leader that fires ticks of it. */
async function setup(url = server.url) {
  const bench = openBench(url)
  const running = new Map<string, (end: RunEnd) => void>()
  const { prefix } = bench
  const redis = openRedis(producerConnection(url), () => {})
  const trigger = createTrigger({ redis, prefix, clock: systemClock, onError: () => {} })
  const options = { url, prefix, queue: QUEUE, commandTimeoutMs: 5_000, onError: () => {} }
  const leader = new FiringQueue(options)
  onTestFinished(async () => {
    await trigger.close()
    redis.disconnect()
    await leader.close()
    for (const end of running.values()) end({ kind: 'succeeded' })
    await bench[Symbol.asyncDispose]()
  })
  await redisReady(leader.redis, 5_000)
  await leader.claim(reign)
  const schedule = { id: randomUUID() as ScheduleId, name: 'nightly' }
  return {
    ...bench,
    schedule,
    running,
    facts: () => bench.facts(),
    trigger: (request: Partial<TriggerRequest> = {}) =>
      trigger.run({
        schedule,
        job: { name: 'email.send', queue: QUEUE },
        spec: {},
        payload: { to: 'ana@example.com' },
        overlap: 'skip',
        ...request,
      }),
    /** Fires the only tick of the schedule. */
    tick: async (overlap: OverlapPolicy): Promise<RunId> => {
      const id = tickRunId(schedule.id, TICK)
      const run = {
        id,
        job: 'email.send',
        tickAtMs: TICK,
        dueAtMs: TICK,
        overlap,
        message: { v: 1 as const, payload: {}, schedule },
        options: runMessageOptions({ enqueuedAtMs: TICK }),
        fact: JSON.stringify({ id }).slice(1),
      }
      const owed = { scheduleId: schedule.id, lastMs: TICK, skips: [], skipped: {}, runs: [run] }
      const scheduleIds = [schedule.id]
      await leader.fire({ reign, nowIso: NOW, scheduleIds, plan: () => owed })
      return id
    },
    /** A worker whose attempts go on until \`end\` is called. */
    work: () => bench.work((run) => new Promise((resolve) => void running.set(run.id, resolve))),
    end: (id: string, end: RunEnd = { kind: 'succeeded' }): void => {
      running.get(id)?.(end)
      running.delete(id)
    },
    isRunning: (id: string) => eventually(() => expect([...running.keys()]).toContain(id)),
  }
}

async function triggered(result: ReturnType<Awaited<ReturnType<typeof setup>>['trigger']>) {
  const known = await result
  if (!known.triggered) throw new Error(`refused for ${known.unfinished}`)
  return known.id
}

test('a triggered run names its schedule, has what its spec says, and belongs to no tick', async () => {
  const { trigger, queue, facts, schedule, redis, prefix } = await setup()
  const spec = { attempts: 7, timeoutMs: 1_234, priority: 5, labels: { team: 'billing' } }
  const id = await triggered(trigger({ spec }))
  const message = await queue.getJob(id)
  expect(message?.data).toEqual({
    v: 1,
    payload: { to: 'ana@example.com' },
    schedule,
    attempts: 7,
    timeoutMs: 1_234,
    labels: { team: 'billing' },
  })
  expect(message?.priority).toBe(5)
  const [fact] = await facts()
  expect(fact).toMatchObject({
    id,
    state: 'queued',
    job: 'email.send',
    queue: QUEUE,
    schedule_id: schedule.id,
    schedule: 'nightly',
    labels: { team: 'billing' },
    priority: 5,
    payload: { to: 'ana@example.com' },
  })
  expect(fact).not.toHaveProperty('tick_at')
  expect(await redis.hgetall(keys.lastTicksKey(prefix, QUEUE))).toEqual({ term: '7' })
})

test('with skip, a run is refused while another is unfinished, which is named, and nothing is written', async () => {
  const { trigger, tick, work, end, isRunning, facts, queue, redis, prefix, schedule } =
    await setup()
  const first = await tick('skip')
  expect(await trigger()).toEqual({ triggered: false, unfinished: first })
  expect(await facts()).toHaveLength(1)
  expect(await queue.getJobs(['waiting', 'delayed'])).toHaveLength(1)
  work()
  await isRunning(first)
  expect(await trigger()).toEqual({ triggered: false, unfinished: first })
  end(first)
  const unfinished = keys.unfinishedKey(prefix, QUEUE, schedule.id)
  await eventually(async () => expect(await redis.scard(unfinished)).toBe(0))
  await isRunning(await triggered(trigger()))
})

test('with skip, one of many triggers at once gets through', async () => {
  const { trigger, facts } = await setup()
  const results = await Promise.all(Array.from({ length: 20 }, () => trigger()))
  const ids = results.flatMap((result) => (result.triggered ? [result.id] : []))
  expect(ids).toHaveLength(1)
  const named = results.flatMap((result) => (result.triggered ? [] : [result.unfinished]))
  expect(named).toEqual(named.map(() => ids[0]))
  expect(await facts()).toHaveLength(1)
})

test('a triggered run stands in the way of a tick', async () => {
  const { trigger, tick, facts } = await setup()
  await triggered(trigger())
  const id = await tick('skip')
  expect((await facts()).at(-1)).toMatchObject({ id, state: 'skipped', reason: 'overlap' })
})

test('with allow, a triggered run starts beside the others', async () => {
  const { trigger, tick, work, isRunning, running } = await setup()
  work()
  const first = await tick('skip')
  await isRunning(first)
  const second = await triggered(trigger({ overlap: 'allow' }))
  await isRunning(second)
  expect([...running.keys()]).toEqual([first, second])
})

test('with queue-latest, a triggered run waits, and a tick takes its place', async () => {
  const { trigger, tick, work, end, isRunning, running, facts } = await setup()
  work()
  const first = await triggered(trigger())
  await isRunning(first)
  const second = await triggered(trigger({ overlap: 'queue-latest' }))
  const third = await tick('queue-latest')
  expect(await facts()).toContainEqual(
    expect.objectContaining({ id: second, state: 'cancelled', reason: 'superseded' }),
  )
  expect([...running.keys()]).toEqual([first])
  end(first)
  await isRunning(third)
})

test('with cancel-running, the unfinished run is told to end and the triggered one follows it', async () => {
  const { trigger, tick, work, end, isRunning, redis, prefix } = await setup()
  work()
  const first = await tick('skip')
  await isRunning(first)
  const second = await triggered(trigger({ overlap: 'cancel-running' }))
  expect(await redis.hgetall(keys.cancelsKey(prefix, QUEUE))).toEqual({ [first]: 'superseded' })
  end(first, { kind: 'cancelled', reason: 'superseded' })
  await isRunning(second)
})

test('what Postgres cannot store of a payload is made safe in the fact alone', async () => {
  const { trigger, facts, queue } = await setup()
  const id = await triggered(trigger({ payload: { text: 'a\0b' } }))
  expect((await facts())[0]?.['payload']).toEqual({ text: 'a\ufffdb' })
  expect((await queue.getJob(id))?.data.payload).toEqual({ text: 'a\0b' })
})

test('while Redis is nearly full nothing is triggered', async () => {
  await using own = await startTestRedis({ appendonly: 'no' })
  const { trigger, redis, facts } = await setup(own.url)
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
  await redis.config('SET', 'maxmemory', Math.round(used * 1.3))
  await expect(trigger()).rejects.toThrow(TryLaterError)
  expect(await facts()).toEqual([])
  await redis.config('SET', 'maxmemory', 0)
})
