import { randomUUID } from 'node:crypto'
import { type OverlapPolicy, type ScheduleId, tickRunId } from '@jadwal/domain'
import { startTestRedis } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import {
  FiringQueue,
  keys,
  type LastTick,
  redisReady,
  runMessageOptions,
  type TickPlan,
} from '../src/index.ts'

const NOW = '2026-09-01T10:00:00.000Z'
const TICK = Date.parse(NOW)
const trusted = (): boolean => true

async function setup(url = inject('redisUrl')) {
  const prefix = `firing-${randomUUID()}`
  const open = async (): Promise<FiringQueue> => {
    const queue = new FiringQueue({
      url,
      prefix,
      queue: 'emails',
      commandTimeoutMs: 5_000,
      onError: () => {},
    })
    onTestFinished(() => queue.close())
    await redisReady(queue.redis, 5_000)
    return queue
  }
  const redis = new Redis(url)
  const messages = new Queue('emails', {
    connection: redis,
    prefix: keys.bullPrefix(prefix, 'emails'),
    skipMetasUpdate: true,
  })
  onTestFinished(async () => {
    await messages.close()
    redis.disconnect()
  })
  const facts = async () => {
    const entries = await redis.xrange(keys.outboxKey(prefix, 'emails'), '-', '+')
    return entries.flatMap(([, fields]) =>
      (fields[1] ?? '').split('\n').map((line) => JSON.parse(line) as Record<string, unknown>),
    )
  }
  return { open, prefix, redis, messages, facts }
}

function planOf(
  scheduleId: ScheduleId,
  tickAtMs: number,
  overlap: OverlapPolicy = 'allow',
): TickPlan {
  const id = tickRunId(scheduleId, tickAtMs)
  const at = new Date(tickAtMs).toISOString()
  return {
    scheduleId,
    lastMs: tickAtMs,
    skips: [],
    skipped: {},
    runs: [
      {
        id,
        job: 'email.send',
        tickAtMs,
        dueAtMs: tickAtMs,
        overlap,
        message: {
          v: 1,
          payload: {},
          schedule: { id: scheduleId, name: 's', tickAt: at, term: 1 },
        },
        options: runMessageOptions({ enqueuedAtMs: tickAtMs }),
        fact: JSON.stringify({ id, tick_at: at }).slice(1),
      },
    ],
  }
}

const newSchedule = (): ScheduleId => randomUUID() as ScheduleId

/** Plans one tick unless it was decided already. */
const once =
  (tickAtMs: number, overlap: OverlapPolicy = 'allow') =>
  (id: ScheduleId, last: LastTick | undefined): TickPlan | undefined =>
    (last?.ms ?? 0) >= tickAtMs ? undefined : planOf(id, tickAtMs, overlap)

test('a tick becomes one message, one last tick and one fact', async () => {
  const { open, messages, facts, redis, prefix } = await setup()
  const [queue, id] = [await open(), newSchedule()]
  const reign = { term: 7, trusted }
  await queue.claim(reign)
  const request = { reign, nowIso: NOW, scheduleIds: [id], plan: once(TICK) }
  expect((await queue.fire(request)).status).toBe('fired')
  await queue.fire(request)
  expect(await messages.getJobCounts('waiting')).toEqual({ waiting: 1 })
  expect(await redis.hgetall(keys.lastTicksKey(prefix, 'emails'))).toEqual({
    term: '7',
    [id]: String(TICK),
  })
  expect(await facts()).toEqual([
    { kind: 'run', revision: 0, state: 'queued', id: tickRunId(id, TICK), tick_at: NOW },
  ])
})

test('of two leaders that read the same, one gets through', async () => {
  const { open, messages } = await setup()
  const [a, b, id] = [await open(), await open(), newSchedule()]
  const reign = { term: 7, trusted }
  await a.claim(reign)
  const results = await Promise.all(
    [a, b].map((queue) => queue.fire({ reign, nowIso: NOW, scheduleIds: [id], plan: once(TICK) })),
  )
  const planned = results.filter((result) => result.status === 'fired' && result.plans.length > 0)
  expect(planned).toHaveLength(1)
  expect(await messages.getJobCounts('waiting')).toEqual({ waiting: 1 })
})

test('a leader of an older term is told to stop and does nothing', async () => {
  const { open, messages } = await setup()
  const [old, young, id] = [await open(), await open(), newSchedule()]
  await old.claim({ term: 7, trusted })
  await young.claim({ term: 8, trusted })
  await expect(
    old.fire({ reign: { term: 7, trusted }, nowIso: NOW, scheduleIds: [id], plan: once(TICK) }),
  ).rejects.toThrow('term 8 fires into queue emails; ours is 7')
  await expect(old.claim({ term: 7, trusted })).rejects.toThrow('ours is 7')
  expect(await messages.getJobCounts('waiting')).toEqual({ waiting: 0 })
})

test('a new leader that claims between the read and the EXEC of the old one makes it fail', async () => {
  const { open, messages } = await setup()
  const [old, young, id] = [await open(), await open(), newSchedule()]
  await old.claim({ term: 7, trusted })
  const { redis } = old
  const multi = redis.multi.bind(redis)
  const claimFirst = (): ReturnType<typeof multi> => {
    const tx = multi()
    const exec = tx.exec.bind(tx)
    tx.exec = async () => {
      await young.claim({ term: 8, trusted })
      return await exec()
    }
    return tx
  }
  Object.assign(redis, { multi: claimFirst })
  const request = { reign: { term: 7, trusted }, nowIso: NOW, scheduleIds: [id], plan: once(TICK) }
  expect(await old.fire(request)).toEqual({ status: 'aborted' })
  expect(await messages.getJobCounts('waiting')).toEqual({ waiting: 0 })
  await expect(old.fire(request)).rejects.toThrow('ours is 7')
})

test('nothing is sent once the lease is no longer trusted', async () => {
  const { open, messages } = await setup()
  const [queue, id] = [await open(), newSchedule()]
  await queue.claim({ term: 7, trusted })
  const reign = { term: 7, trusted: () => false }
  await expect(
    queue.fire({ reign, nowIso: NOW, scheduleIds: [id], plan: once(TICK) }),
  ).rejects.toThrow('the lease ran out before EXEC')
  expect(await messages.getJobCounts('waiting')).toEqual({ waiting: 0 })
})

test('a tick whose schedule has an unfinished run gets no run with overlap skip, and says so', async () => {
  const { open, messages, facts } = await setup()
  const [queue, id] = [await open(), newSchedule()]
  const reign = { term: 7, trusted }
  await queue.claim(reign)
  await queue.fire({ reign, nowIso: NOW, scheduleIds: [id], plan: once(TICK, 'skip') })
  const second = await queue.fire({
    reign,
    nowIso: NOW,
    scheduleIds: [id],
    plan: once(TICK + 1_000, 'skip'),
  })
  expect(second).toMatchObject({
    status: 'fired',
    overlapped: new Set([tickRunId(id, TICK + 1_000)]),
  })
  expect(await messages.getJobCounts('waiting')).toEqual({ waiting: 1 })
  expect((await facts()).map(({ state, reason }) => [state, reason])).toEqual([
    ['queued', undefined],
    ['skipped', 'overlap'],
  ])
})

test('an emptied script cache loses no message', async () => {
  await using own = await startTestRedis({ appendonly: 'no' })
  const { open, messages, redis } = await setup(own.url)
  const [queue, ids] = [await open(), Array.from({ length: 50 }, newSchedule)]
  const reign = { term: 7, trusted }
  await queue.claim(reign)
  for (let tick = 1; tick <= 5; tick += 1) {
    await redis.script('FLUSH')
    const result = await queue.fire({
      reign,
      nowIso: NOW,
      scheduleIds: ids,
      plan: once(TICK + tick * 1_000),
    })
    expect(result).toMatchObject({ status: 'fired', owed: new Set() })
  }
  expect(await messages.getJobCounts('waiting')).toEqual({ waiting: 250 })
})

test('a message that was not added leaves its tick owed', async () => {
  const { open, redis, prefix } = await setup()
  const [queue, good, bad] = [await open(), newSchedule(), newSchedule()]
  const reign = { term: 7, trusted }
  await queue.claim(reign)
  const plan = (id: ScheduleId): TickPlan => {
    const planned = planOf(id, TICK)
    const [run] = planned.runs
    // A message of a parent that does not exist: BullMQ answers with a negative number and adds nothing.
    if (run && id === bad)
      run.options = {
        ...run.options,
        parent: { id: 'none', queue: keys.bullKey(prefix, 'emails', 'x') },
      }
    return planned
  }
  const result = await queue.fire({ reign, nowIso: NOW, scheduleIds: [good, bad], plan })
  expect(result).toMatchObject({ status: 'fired', owed: new Set([tickRunId(bad, TICK)]) })
  expect(await redis.hmget(keys.lastTicksKey(prefix, 'emails'), good, bad)).toEqual([
    String(TICK),
    String(TICK - 1),
  ])
})

test('a schedule that moves away is closed to leaders that do not know of it', async () => {
  const { open } = await setup()
  const [queue, id] = [await open(), newSchedule()]
  const reign = { term: 7, trusted }
  await queue.claim(reign)
  await queue.changeLastTick(reign, id, () => ({ ms: TICK, moved: true }))
  const seen: (LastTick | undefined)[] = []
  const plan = (_: ScheduleId, last: LastTick | undefined): undefined => void seen.push(last)
  await queue.fire({ reign, nowIso: NOW, scheduleIds: [id], plan })
  expect(seen).toEqual([{ ms: TICK, moved: true }])
})

test('what was prepared for a last tick that has changed since is not carried out', async () => {
  const { open, messages } = await setup()
  const [queue, id] = [await open(), newSchedule()]
  const reign = { term: 7, trusted }
  await queue.claim(reign)
  const request = { reign, nowIso: NOW, scheduleIds: [id], plan: once(TICK) }
  const prepared = await queue.prepare(request, [null])
  expect((await queue.fire({ ...request, prepared })).status).toBe('fired')
  const late = await queue.prepare(request, [null])
  expect((await queue.fire({ ...request, prepared: late })).status).toBe('aborted')
  expect(await messages.getJobCounts('waiting')).toEqual({ waiting: 1 })
})
