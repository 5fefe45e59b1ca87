import { changeBackfillState, listActiveBackfills } from '@jadwal/db'
import type { RunFact } from '@jadwal/domain'
import { keys, publishCatalogue } from '@jadwal/queue'
import { expect, test, vi } from 'vitest'
import { at, setupBackfills } from './setup-backfills.ts'

test('makes a run for each tick that has no success, no more at a time than it may, and is done after the last', async () => {
  const { lead, backfill, finish, succeeded, state, lastTicks } = await setupBackfills()
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
  const { lead, backfill, finish, succeeded } = await setupBackfills()
  await succeeded(2)
  const id = await backfill({ all_ticks: true, concurrency: 100 })
  await lead(1).round()
  expect(await finish(id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a leader that takes over goes on where the other was, also before Postgres was told', async () => {
  const { lead, backfill, finish, state, db } = await setupBackfills()
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
  const { lead, backfill, finish } = await setupBackfills()
  const id = await backfill({ concurrency: 100 })
  const [old, young] = [lead(1), lead(2)]
  const results = await Promise.allSettled([old.round(), young.round(), old.round(), young.round()])
  expect(results.some(({ status }) => status === 'fulfilled')).toBe(true)
  expect(await finish(id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a paused one makes no runs until it goes on, nor does any while everything is paused', async () => {
  const { lead, backfill, finish, db, book } = await setupBackfills()
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

test('a cancelled one makes no more runs and those that wait are cancelled, however long nobody led', async () => {
  const { lead, backfill, state, db, bull, redis, prefix, lastTicks } = await setupBackfills()
  const id = await backfill()
  await lead(1).round()
  await changeBackfillState(db, id, { from: ['running'], to: 'cancelled', at: at(0) })
  // As if the first had died before it told Postgres.
  await db.updateTable('backfills').set({ enqueued: 0, position_at: null }).execute()
  await lead(2).round()
  expect(await bull.getJobCounts('waiting', 'prioritized')).toEqual({ waiting: 0, prioritized: 0 })
  const entries = await redis.xrange(keys.outboxKey(prefix, 'reports'), '-', '+')
  const facts = entries.flatMap(([, fields]) =>
    (fields[1] ?? '').split('\n').map((line) => JSON.parse(line) as RunFact),
  )
  const cancelled = facts.filter((fact) => fact.state === 'cancelled')
  expect(cancelled.map(({ backfill_id }) => backfill_id)).toEqual([id, id, id, id])
  expect(await state(id)).toMatchObject({ state: 'cancelled', enqueued: 4, skipped: 0 })
  expect(await lastTicks()).toEqual({ term: '2' })
  expect(await listActiveBackfills(db)).toEqual([])
})

test('after a cancel, a run that a worker has in hand may end but is not retried', async () => {
  const { lead, backfill, db, bull, redis, prefix } = await setupBackfills()
  const id = await backfill({ concurrency: 1 })
  const leader = lead(1)
  await leader.round()
  const [message] = await bull.getJobs(['prioritized'])
  const runId = message?.id ?? ''
  const key = (part: string): string => keys.bullKey(prefix, 'reports', part)
  await redis.multi().zrem(key('prioritized'), runId).lpush(key('active'), runId).exec()
  await changeBackfillState(db, id, { from: ['running'], to: 'cancelled', at: at(0) })
  await leader.round()
  expect(await redis.exists(key(runId))).toBe(1)
  expect((await listActiveBackfills(db)).map((each) => each.id)).toEqual([id])
  await redis.hset(key(runId), 'ats', 1, 'atm', 1)
  await redis.multi().lrem(key('active'), 1, runId).zadd(key('delayed'), 1, runId).exec()
  await leader.round()
  expect(await redis.exists(key(runId))).toBe(0)
  expect(await listActiveBackfills(db)).toEqual([])
})

test('its rate holds over rounds', async () => {
  const { lead, backfill, finish, redisClock } = await setupBackfills()
  const id = await backfill({ rate: 2, concurrency: 100 })
  let nowMs = redisClock.nowMs()
  vi.spyOn(redisClock, 'nowMs').mockImplementation(() => nowMs)
  const leader = lead(1)
  await leader.round()
  await leader.round()
  nowMs += 499
  await leader.round()
  expect(await finish(id)).toEqual([0])
  nowMs += 1
  await leader.round()
  await leader.round()
  expect(await finish(id)).toEqual([1])
})

test('it says why it does not go on when its job moved or is served by nobody, and goes on afterwards', async () => {
  const { lead, backfill, finish, state, catalogue, redis, prefix, version } =
    await setupBackfills()
  const id = await backfill()
  const [known] = await redis.hvals(keys.jobsKey(prefix))
  const moved = { ...JSON.parse(known ?? '{}'), queue: 'elsewhere' }
  await publishCatalogue(redis, prefix, [moved])
  await catalogue.refresh(redis, prefix)
  const leader = lead(1)
  await leader.round()
  expect((await state(id)).problem).toMatch(/moved to the queue elsewhere/)
  const written = await version(id)
  await leader.round()
  expect(await version(id)).toBe(written)
  await publishCatalogue(redis, prefix, [{ ...moved, queue: 'reports' }])
  await catalogue.refresh(redis, prefix)
  await leader.round()
  expect(await finish(id)).toEqual([0, 1, 2, 3])
  expect((await state(id)).problem).toBeNull()
})

test('days that the schedule keeps from are left out', async () => {
  const { lead, backfill, finish } = await setupBackfills()
  const calendars = { holidays: { dates: ['2026-09-02'], spans: [] } }
  const rule = { every: '6h', calendars: { skip: ['holidays'] } }
  const id = await backfill({ calendars, until_at: at(3 * 24 * 60), concurrency: 100 }, rule)
  await lead(1).round()
  const days = (await finish(id)).map((minutes) => at(minutes).toISOString().slice(8, 10))
  expect([...new Set(days)]).toEqual(['01', '03', '04'])
})

test('where calendars keep it from all ticks for years, it goes on bit by bit, whoever leads', async () => {
  const { lead, backfill, finish, state, position } = await setupBackfills()
  const calendars = {
    audit: { dates: ['2026-08-30'], spans: [] },
    holidays: { dates: ['12-25'], spans: [] },
  }
  const rule = { every: '1d', calendars: { only: ['audit'], skip: ['holidays'] } }
  const from_at = new Date('2014-01-01T00:00:00Z')
  const id = await backfill({ calendars, from_at, until_at: at(0) }, rule)
  await lead(1).round()
  expect(await position(id)).toBe('2019-06-23')
  expect(await state(id)).toMatchObject({ state: 'running', enqueued: 0, skipped: 0 })
  const leader = lead(2)
  await leader.round()
  await leader.round()
  expect(await state(id)).toMatchObject({ enqueued: 1, skipped: 0 })
  await finish(id)
  await leader.round()
  expect(await state(id)).toMatchObject({ state: 'done', enqueued: 1, skipped: 0 })
})

test('runs with large payloads are made a few at a time', async () => {
  const { lead, backfill, finish } = await setupBackfills()
  const payload = { text: 'x'.repeat(60_000) }
  const id = await backfill({ until_at: at(100), concurrency: 100 }, { payload })
  const leader = lead(1)
  await leader.round()
  const first = (await finish(id)).length
  expect(first).toBeGreaterThan(10)
  expect(first * 2 * 60_000).toBeLessThan(4 * 1024 * 1024)
  await leader.round()
  expect((await finish(id))[0]).toBe(first)
})
