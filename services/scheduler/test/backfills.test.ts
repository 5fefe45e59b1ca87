import { randomUUID } from 'node:crypto'
import {
  applySchedules,
  type BackfillRow,
  changeBackfillState,
  findBackfill,
  insertBackfill,
  recordFacts,
} from '@jadwal/db'
import {
  backfillRunId,
  MINUTE,
  type RunFact,
  ScheduleId,
  type ScheduleSpecInput,
  systemClock,
  tickRunId,
} from '@jadwal/domain'
import { keys, publishCatalogue, RedisClock } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { Backfills } from '../src/backfills.ts'
import { Catalogue } from '../src/catalogue.ts'
import { FiringQueues } from '../src/firing-queues.ts'
import { ScheduleBook } from '../src/schedule-book.ts'

const FROM = Date.parse('2026-09-01T10:00:00Z')
const at = (minutes: number): Date => new Date(FROM + minutes * MINUTE)

async function setup() {
  const prefix = `backfill-${randomUUID()}`
  const url = inject('redisUrl')
  const redis = new Redis(url)
  const options = { url, prefix, commandTimeoutMs: 5_000, onError: () => {} }
  const queues = new FiringQueues(redis, options)
  const database = await createTestDatabase(inject('postgresUrl'))
  const bull = new Queue('reports', {
    connection: redis,
    prefix: keys.bullPrefix(prefix, 'reports'),
    skipMetasUpdate: true,
  })
  onTestFinished(async () => {
    await bull.close()
    await queues.close()
    redis.disconnect()
    await database[Symbol.asyncDispose]()
  })
  const { db } = database
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const backoff = { type: 'exponential' as const, delayMs: 1, maxDelayMs: 1, jitter: 0 }
  await publishCatalogue(redis, prefix, [
    { name: 'report', queue: 'reports', attempts: 3, backoff, timeoutMs: 1_000, payloadSchema: {} },
  ])
  const catalogue = new Catalogue()
  await catalogue.refresh(redis, prefix)
  const book = new ScheduleBook()
  const input = { job: 'report', every: '1m' }
  await applySchedules(db, {
    schedules: [{ name: 'hourly', input }],
    prune: false,
    source: 'api',
    author: 'test',
  })
  const { id } = await db.selectFrom('schedules').select('id').executeTakeFirstOrThrow()
  const scheduleId = ScheduleId.parse(id)
  const log = createLogger('scheduler', 'silent', 'test')
  const lead = (term: number): Backfills =>
    new Backfills(
      {
        db,
        redis,
        redisClock,
        prefix,
        catalogue,
        book,
        queues,
        log,
        redisIsFull: () => false,
      },
      { term, trusted: () => true },
    )
  const backfill = async (
    fields: Partial<BackfillRow> = {},
    rule: Partial<ScheduleSpecInput> = {},
  ): Promise<string> => {
    const id = randomUUID()
    await insertBackfill(db, {
      id,
      schedule_id: scheduleId,
      from_at: at(0),
      until_at: at(10),
      state: 'running',
      all_ticks: false,
      rate: null,
      concurrency: 4,
      queue: 'reports',
      ticks: 10,
      author: 'test',
      created_at: new Date(redisClock.nowMs()),
      ...fields,
      spec: JSON.stringify({ ...input, ...rule }),
      calendars: JSON.stringify(fields.calendars ?? {}),
    })
    return id
  }
  /** Takes the runs that wait out of the queue, as if workers had done them. */
  const finish = async (backfillId: string): Promise<number[]> => {
    const ticks: number[] = []
    for (const message of await bull.getJobs(['prioritized', 'waiting'])) {
      const { schedule } = message.data as { schedule: { tickAt: string; backfillId: string } }
      expect(schedule.backfillId).toBe(backfillId)
      ticks.push((Date.parse(schedule.tickAt) - FROM) / MINUTE)
      await redis.srem(keys.unfinishedKey(prefix, 'reports', backfillId), String(message.id))
      await message.remove()
    }
    return ticks.toSorted((a, b) => a - b)
  }
  const succeeded = async (minutes: number): Promise<void> => {
    const tick = at(minutes).toISOString()
    const fact: RunFact = {
      kind: 'run',
      id: tickRunId(scheduleId, at(minutes).getTime()),
      revision: 13,
      state: 'succeeded',
      job: 'report',
      queue: 'reports',
      schedule_id: scheduleId,
      schedule: 'hourly',
      tick_at: tick,
      payload: {},
      enqueued_at: tick,
      attempt: 1,
      finished_at: tick,
    }
    await recordFacts(db, [JSON.stringify(fact)])
  }
  const state = async (id: string) => {
    const { state, enqueued, skipped, problem } = (await findBackfill(db, id)) ?? {}
    return { state, enqueued, skipped, problem }
  }
  const lastTicks = () => redis.hgetall(keys.lastTicksKey(prefix, 'reports'))
  return {
    lead,
    backfill,
    finish,
    succeeded,
    state,
    db,
    redis,
    prefix,
    book,
    catalogue,
    lastTicks,
    bull,
  }
}

test('makes a run for each tick that has no success, no more at a time than it may, and is done after the last', async () => {
  const { lead, backfill, finish, succeeded, state, lastTicks } = await setup()
  await succeeded(2)
  await succeeded(3)
  const id = await backfill()
  const leader = lead(1)
  await leader.round()
  await leader.round()
  expect(await state(id)).toMatchObject({ state: 'running', enqueued: 4, skipped: 2 })
  expect(await finish(id)).toEqual([0, 1, 4, 5])
  await leader.round()
  expect(await finish(id)).toEqual([6, 7, 8, 9])
  await leader.round()
  expect(await state(id)).toEqual({ state: 'done', enqueued: 8, skipped: 2, problem: null })
  expect(await lastTicks()).toEqual({ term: '1' })
})

test('with all, ticks that succeeded get a run too', async () => {
  const { lead, backfill, finish, succeeded } = await setup()
  await succeeded(2)
  const id = await backfill({ all_ticks: true, concurrency: 100 })
  await lead(1).round()
  expect(await finish(id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a success of an earlier backfill counts', async () => {
  const { lead, backfill, finish, db } = await setup()
  const first = await backfill({ concurrency: 2 })
  await lead(1).round()
  expect(await finish(first)).toEqual([0, 1])
  await changeBackfillState(db, first, { from: ['running'], to: 'cancelled', at: new Date() })
  const row = await findBackfill(db, first)
  const createdAtMs = row?.created_at.getTime() ?? 0
  const fact = {
    kind: 'run',
    id: backfillRunId({ id: first, createdAtMs }, at(1).getTime()),
    revision: 13,
    state: 'succeeded',
    job: 'report',
    queue: 'reports',
    schedule_id: row?.schedule_id,
    tick_at: at(1).toISOString(),
    backfill_id: first,
    payload: {},
    enqueued_at: at(1).toISOString(),
    attempt: 1,
    finished_at: at(1).toISOString(),
  }
  await recordFacts(db, [JSON.stringify(fact)])
  const second = await backfill({ concurrency: 100 })
  await lead(1).round()
  expect(await finish(second)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a leader that takes over goes on where the other was, also before Postgres was told', async () => {
  const { lead, backfill, finish, state, db } = await setup()
  const id = await backfill()
  await lead(1).round()
  expect(await finish(id)).toEqual([0, 1, 2, 3])
  await db
    .updateTable('backfills')
    .set({ enqueued: 0, skipped: 0, position_at: null })
    .where('id', '=', id)
    .execute()
  const next = lead(2)
  await next.round()
  expect(await finish(id)).toEqual([4, 5, 6, 7])
  expect(await state(id)).toMatchObject({ enqueued: 8, skipped: 0 })
})

test('of two leaders that both make runs, each tick gets one, and the old one is told to stop', async () => {
  const { lead, backfill, finish } = await setup()
  const id = await backfill({ concurrency: 100 })
  const [old, young] = [lead(1), lead(2)]
  const results = await Promise.allSettled([old.round(), young.round(), old.round(), young.round()])
  expect(results.some(({ status }) => status === 'fulfilled')).toBe(true)
  expect(await finish(id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a paused one makes no runs until it goes on, nor does any while everything is paused', async () => {
  const { lead, backfill, finish, db, book } = await setup()
  const id = await backfill({ state: 'paused' })
  const leader = lead(1)
  await leader.round()
  expect(await finish(id)).toEqual([])
  await changeBackfillState(db, id, { from: ['paused'], to: 'running', at: new Date() })
  book.pauses = [{ fromMs: 0 }]
  await leader.round()
  expect(await finish(id)).toEqual([])
  book.pauses = []
  await leader.round()
  expect(await finish(id)).toEqual([0, 1, 2, 3])
})

test('a cancelled one makes no more runs, and those that wait are cancelled', async () => {
  const { lead, backfill, state, db, bull, redis, prefix } = await setup()
  const id = await backfill()
  const leader = lead(1)
  await leader.round()
  await changeBackfillState(db, id, { from: ['running'], to: 'cancelled', at: new Date() })
  await leader.round()
  expect(await bull.getJobCounts('waiting', 'prioritized')).toEqual({ waiting: 0, prioritized: 0 })
  const entries = await redis.xrange(keys.outboxKey(prefix, 'reports'), '-', '+')
  const facts = entries.flatMap(([, fields]) =>
    (fields[1] ?? '').split('\n').map((line) => JSON.parse(line) as RunFact),
  )
  const cancelled = facts.filter(({ state }) => state === 'cancelled')
  expect(cancelled.map(({ backfill_id }) => backfill_id)).toEqual([id, id, id, id])
  expect((await state(id)).state).toBe('cancelled')
})

test('its rate holds over rounds', async () => {
  const { lead, backfill, finish } = await setup()
  const id = await backfill({ rate: 2, concurrency: 100 })
  const leader = lead(1)
  await leader.round()
  await leader.round()
  await leader.round()
  expect(await finish(id)).toEqual([0])
})

test('it says why it does not go on when its job moved or is served by nobody, and goes on afterwards', async () => {
  const { lead, backfill, finish, state, catalogue, redis, prefix } = await setup()
  const id = await backfill()
  const [known] = await redis.hvals(keys.jobsKey(prefix))
  const moved = { ...JSON.parse(known ?? '{}'), queue: 'elsewhere' }
  await publishCatalogue(redis, prefix, [moved])
  await catalogue.refresh(redis, prefix)
  const leader = lead(1)
  await leader.round()
  expect((await state(id)).problem).toMatch(/moved to the queue elsewhere/)
  await publishCatalogue(redis, prefix, [{ ...moved, queue: 'reports' }])
  await catalogue.refresh(redis, prefix)
  await leader.round()
  expect(await finish(id)).toEqual([0, 1, 2, 3])
  expect((await state(id)).problem).toBeNull()
})

test('days that the schedule keeps from are left out', async () => {
  const { lead, backfill, finish } = await setup()
  const calendars = { holidays: { dates: ['2026-09-02'], spans: [] } }
  const rule = { every: '6h', calendars: { skip: ['holidays'] } }
  const id = await backfill({ calendars, until_at: at(3 * 24 * 60), concurrency: 100 }, rule)
  await lead(1).round()
  const days = (await finish(id)).map((minutes) => at(minutes).toISOString().slice(8, 10))
  expect([...new Set(days)]).toEqual(['01', '03', '04'])
})
