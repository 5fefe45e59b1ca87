import { randomUUID } from 'node:crypto'
import { type OverlapPolicy, type RunId, type ScheduleId, tickRunId } from '@jadwal/domain'
import {
  cancelRun,
  carryOutCancels,
  FiringQueue,
  keys,
  redisReady,
  type RunEnd,
  runMessageOptions,
  type TickPlan,
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
const SUCCEEDED: RunEnd = { kind: 'succeeded' }
const reign = { term: 7, trusted: () => true }

/** One schedule, a leader that fires its ticks with whatever policy, and a worker that a test ends runs of. */
async function setup() {
  const bench = openBench(server.url)
  const running = new Map<string, (end: RunEnd) => void>()
  onTestFinished(async () => {
    for (const end of running.values()) end(SUCCEEDED)
    running.set = (id, end) => (end(SUCCEEDED), running)
    await bench[Symbol.asyncDispose]()
  })
  const { prefix, redis } = bench
  const leader = new FiringQueue({
    url: server.url,
    prefix,
    queue: QUEUE,
    commandTimeoutMs: 5_000,
    onError: () => {},
  })
  onTestFinished(() => leader.close())
  await redisReady(leader.redis, 5_000)
  await leader.claim(reign)
  const scheduleId = randomUUID() as ScheduleId
  let ticks = 0

  const fire = async (overlap: OverlapPolicy, jitterMs = 0): Promise<RunId> => {
    const tickAtMs = TICK + ticks * 1_000
    ticks += 1
    const id = tickRunId(scheduleId, tickAtMs)
    const plan = (): TickPlan => ({
      scheduleId,
      lastMs: tickAtMs,
      skips: [],
      skipped: {},
      runs: [
        {
          id,
          job: 'email.send',
          tickAtMs,
          dueAtMs: tickAtMs + jitterMs,
          overlap,
          message: { v: 1, payload: {}, schedule: { id: scheduleId, name: 's' } },
          options: runMessageOptions({ enqueuedAtMs: tickAtMs }),
          fact: JSON.stringify({ id, payload: {} }).slice(1),
        },
      ],
    })
    await leader.fire({ reign, nowIso: NOW, scheduleIds: [scheduleId], plan })
    return id
  }
  return {
    ...bench,
    fire,
    running,
    /** A worker whose attempts go on until \`end\` is called. */
    work: (options: { lockMs?: number } = {}) =>
      bench.work((run) => new Promise((resolve) => void running.set(run.id, resolve)), options),
    end: (id: string, end: RunEnd = SUCCEEDED): void => {
      running.get(id)?.(end)
      running.delete(id)
    },
    isRunning: (id: string) => eventually(() => expect([...running.keys()]).toContain(id)),
    /** What the history would show of each run: the fact with the highest revision. */
    async states(): Promise<Record<string, string>> {
      const states = new Map<string, [revision: number, text: string]>()
      for (const { id, revision, state, reason } of await bench.facts()) {
        const [known] = states.get(String(id)) ?? [-1]
        if (Number(revision) >= known)
          states.set(String(id), [Number(revision), reason ? `${state} ${reason}` : String(state)])
      }
      return Object.fromEntries([...states].map(([id, [, text]]) => [id, text]))
    },
    unfinished: () => redis.smembers(keys.unfinishedKey(prefix, QUEUE, scheduleId)),
    held: () => redis.hget(keys.heldKey(prefix, QUEUE, scheduleId), 'id'),
    deps: { redis, prefix, nowIso: NOW },
  }
}

test('with skip, a tick gets no run while one is unfinished, whatever policy that one was fired with', async () => {
  const { fire, work, end, isRunning, states, unfinished } = await setup()
  const first = await fire('allow')
  const second = await fire('skip')
  expect(await states()).toEqual({ [first]: 'queued', [second]: 'skipped overlap' })
  work()
  await isRunning(first)
  const third = await fire('skip')
  end(first)
  await eventually(async () => expect(await unfinished()).toEqual([]))
  const fourth = await fire('skip')
  await isRunning(fourth)
  expect(await states()).toMatchObject({ [third]: 'skipped overlap', [fourth]: 'queued' })
})

test('a run that is to be retried is unfinished, one that is dead is not', async () => {
  const { fire, work, end, isRunning, states, unfinished } = await setup()
  work()
  const first = await fire('skip')
  await isRunning(first)
  const error = { name: 'Error', message: 'no route' }
  end(first, { kind: 'retry', error, delayMs: 300 })
  await eventually(async () => expect((await states())[first]).toBe('retrying'))
  const second = await fire('skip')
  await isRunning(first)
  end(first, { kind: 'dead', reason: 'failed', error })
  await eventually(async () => expect(await unfinished()).toEqual([]))
  const third = await fire('skip')
  expect(await states()).toMatchObject({ [second]: 'skipped overlap', [third]: 'queued' })
})

test('with queue-latest, the latest run waits for the unfinished one and replaces the one that waited', async () => {
  const { fire, work, end, isRunning, running, states, held } = await setup()
  work()
  const first = await fire('queue-latest')
  await isRunning(first)
  const second = await fire('queue-latest')
  expect(await held()).toBe(second)
  const third = await fire('queue-latest')
  expect(await held()).toBe(third)
  expect(await states()).toMatchObject({
    [second]: 'cancelled superseded',
    [third]: 'queued',
  })
  expect([...running.keys()]).toEqual([first])
  end(first)
  await isRunning(third)
  end(third)
  await eventually(async () => expect((await states())[third]).toBe('succeeded'))
})

test('a run that waits starts only after all that are unfinished have ended', async () => {
  const { fire, work, end, isRunning, running, unfinished } = await setup()
  work()
  const [a, b] = [await fire('allow'), await fire('allow')]
  await isRunning(a)
  await isRunning(b)
  const waiting = await fire('queue-latest')
  end(a)
  await eventually(async () => expect(await unfinished()).not.toContain(a))
  expect([...running.keys()]).toEqual([b])
  end(b)
  await isRunning(waiting)
})

test('a run that waits does so too while the unfinished one is taken over from a worker that died', async () => {
  const { fire, work, end, isRunning, held } = await setup()
  const lost = work({ lockMs: 1_000 })
  const first = await fire('queue-latest')
  await isRunning(first)
  const second = await fire('queue-latest')
  end(first, { kind: 'drained' })
  await lost.close()
  expect(await held()).toBe(second)
  work()
  await isRunning(first)
  end(first)
  await isRunning(second)
})

test('with cancel-running, the unfinished run is told to end and the new one starts after it', async () => {
  const { fire, work, end, isRunning, running, states, redis, prefix, held } = await setup()
  work()
  const first = await fire('cancel-running')
  await isRunning(first)
  const second = await fire('cancel-running')
  expect(await redis.hgetall(keys.cancelsKey(prefix, QUEUE))).toEqual({ [first]: 'superseded' })
  expect(await held()).toBe(second)
  expect([...running.keys()]).toEqual([first])
  end(first, { kind: 'cancelled', reason: 'superseded' })
  await isRunning(second)
  expect(await states()).toMatchObject({ [first]: 'cancelled superseded', [second]: 'queued' })
})

test('with cancel-running, a run that waits for a worker is cancelled by whoever carries out the marks', async () => {
  const { fire, work, isRunning, states, deps, redis, prefix } = await setup()
  const first = await fire('cancel-running')
  const second = await fire('cancel-running')
  expect(await carryOutCancels(deps, QUEUE)).toBe(1)
  expect(await states()).toEqual({ [first]: 'cancelled superseded', [second]: 'queued' })
  expect(await redis.hgetall(keys.cancelsKey(prefix, QUEUE))).toEqual({})
  work()
  await isRunning(second)
})

test('a run whose message somebody removed holds up no later one', async () => {
  const { fire, queue, states, work, isRunning, end, unfinished } = await setup()
  const first = await fire('skip')
  await (await queue.getJob(first))?.remove()
  const second = await fire('skip')
  expect((await states())[second]).toBe('queued')
  expect(await unfinished()).toEqual([second])
  work()
  await isRunning(second)
  end(second)
})

test('a run that waits is due no sooner than its jitter says', async () => {
  const { fire, work, end, isRunning, queue } = await setup()
  work()
  const first = await fire('queue-latest')
  await isRunning(first)
  const inAnHour = Date.now() + 3_600_000 - TICK
  const second = await fire('queue-latest', inAnHour)
  end(first)
  await eventually(async () => {
    const score = await queue.getJob(second).then((message) => message?.getState())
    expect(score).toBe('delayed')
    const [due] = await queue.getDelayed()
    expect(due?.id).toBe(second)
  })
})

test.each(['waiting', 'delayed', 'prioritized'])(
  'cancels a run that is %s at once',
  async (where) => {
    const { add, queue, facts, deps, redis, prefix, queue: bull } = await setup()
    await bull.pause()
    const id = await add()
    const message = await queue.getJob(id)
    if (where === 'delayed') await redis.zadd(keys.bullKey(prefix, QUEUE, 'delayed'), 9e15, id)
    if (where === 'delayed') await redis.lrem(keys.bullKey(prefix, QUEUE, 'wait'), 1, id)
    if (where === 'prioritized') await message?.changePriority({ priority: 5 })
    expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toBe('cancelled')
    expect(await queue.getJob(id)).toBeUndefined()
    expect(await facts()).toMatchObject([
      { id, state: 'cancelled', reason: 'cancelled', revision: 3, finished_at: NOW },
    ])
    expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toBe('gone')
  },
)

test('a running run is marked, and its worker ends it', async () => {
  const { add, work, isRunning, end, facts, deps, redis, prefix } = await setup()
  work()
  const id = await add()
  await isRunning(id)
  expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toBe('cancelling')
  end(id, { kind: 'cancelled', reason: 'cancelled' })
  await eventually(async () =>
    expect(await facts()).toMatchObject([
      { id, state: 'cancelled', reason: 'cancelled', revision: 13, attempt_state: 'cancelled' },
    ]),
  )
  await eventually(async () => {
    await carryOutCancels(deps, QUEUE)
    expect(await redis.hlen(keys.cancelsKey(prefix, QUEUE))).toBe(0)
  })
})

test('a marked run that a worker only just takes up is cancelled without its handler', async () => {
  const { add, work, cancels, ends, calls } = await setup()
  const id = await add()
  cancels.set(id, 'cancelled')
  work()
  await eventually(() => expect(ends.map(({ end }) => end.kind)).toEqual(['cancelled']))
  expect(calls).toEqual([])
})

test('a marked run whose worker died is cancelled by the next one, which heard of nothing', async () => {
  const { add, work, deps, ends, calls, redis, prefix } = await setup()
  const id = await add({}, { ats: 1 })
  await redis.hset(keys.cancelsKey(prefix, QUEUE), id, 'superseded')
  work()
  await eventually(() =>
    expect(ends.map(({ end }) => end)).toEqual([{ kind: 'cancelled', reason: 'superseded' }]),
  )
  expect(calls).toEqual([])
  expect(await cancelRun(deps, { queue: QUEUE, id }, 'cancelled')).toBe('gone')
})
