import { randomUUID } from 'node:crypto'
import { createTestDatabase, type TestDatabase } from '@jadwal/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import {
  countRunsFrom,
  deleteOldStats,
  findFailureRates,
  foldRunStats,
  recordFacts,
  runStats,
} from '../src/index.ts'
import { after, lines, NOON, runFact, runId } from './facts.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase(inject('postgresUrl'))
})
afterEach(() => database[Symbol.asyncDispose]())

const HOUR = { from: NOON, to: new Date(NOON.getTime() + 3_600_000) }

async function record(...facts: object[]): Promise<void> {
  await recordFacts(database.db, lines(...facts))
}

async function totals(query: object = {}) {
  return (await runStats(database.db, { ...HOUR, ...query })).totals
}

async function foldAll(): Promise<number> {
  let all = 0
  for (;;) {
    const { moved, more } = await foldRunStats(database.db)
    all += moved
    if (!more) return all
  }
}

function inDays(days: number): Date {
  return new Date(NOON.getTime() + days * 86_400_000)
}

function ended(fact: Parameters<typeof runFact>[0] = {}) {
  return runFact({ started_at: after(2), finished_at: after(12), ...fact })
}

test('runs count by how they ended, with wait, duration and retries', async () => {
  await record(
    ended(),
    ended({ state: 'dead', reason: 'failed', attempt: 3 }),
    runFact({ state: 'cancelled', attempt: 0, finished_at: after(20) }),
    runFact({ state: 'skipped', reason: 'overlap', attempt: 0 }),
    runFact({ state: 'running', started_at: after(1) }),
  )
  const told = await totals()
  expect(told).toMatchObject({ succeeded: 1, dead: 1, cancelled: 1, retries: 2, failureRate: 0.5 })
  expect(told.wait).toMatchObject({ count: 1 })
  expect(Math.abs((told.wait.p50Ms ?? 0) / 2_000 - 1)).toBeLessThan(0.05)
  expect(told.duration.count).toBe(2)
  expect(Math.abs((told.duration.p99Ms ?? 0) / 10_000 - 1)).toBeLessThan(0.05)
})

test('the wait of a delayed run counts from when it was due, that of a retried one to its first start', async () => {
  const retried = runId()
  const told = runId()
  await record(
    ended({ run_at: after(1) }),
    runFact({ id: retried, state: 'retrying', attempt_state: 'failed', started_at: after(1) }),
    runFact({ id: told, state: 'retrying', attempt_state: 'failed', started_at: after(1) }),
    ended({ id: told, attempt: 2, started_at: after(50), finished_at: after(51) }),
  )
  await record(ended({ id: retried, attempt: 2, started_at: after(50), finished_at: after(51) }))
  const { wait } = await totals()
  expect(wait.count).toBe(3)
  expect(Math.abs((wait.p99Ms ?? 0) / 1_000 - 1)).toBeLessThan(0.05)
})

test('a fact counts once, however often, folded or not, and by however many recorders it is recorded', async () => {
  const facts = Array.from({ length: 50 }, () => ended())
  const queued = facts.map(({ id }) => runFact({ id, state: 'queued', attempt: 0 }))
  await record(...queued)
  for (let round = 0; round < 3; round += 1) {
    await Promise.all([record(...facts), record(...facts.toReversed()), foldAll()])
    expect(await totals()).toMatchObject({ succeeded: 50, dead: 0 })
  }
  await foldAll()
  expect(await totals()).toMatchObject({ succeeded: 50, dead: 0, wait: { count: 50 } })
})

test('a run that is made again after its end counts by its first end', async () => {
  const id = runId()
  await record(ended({ id }))
  await record(runFact({ id, state: 'running', attempt: 2, started_at: after(60) }))
  await record(ended({ id, state: 'dead', reason: 'failed', attempt: 2, finished_at: after(70) }))
  await foldAll()
  expect(await totals()).toMatchObject({ succeeded: 1, dead: 0 })
})

test('an end that is recorded after its row may have been deleted does not count', async () => {
  const fact = ended()
  await record(fact)
  await countRunsFrom(database.db, new Date(NOON.getTime() + 60_000))
  await countRunsFrom(database.db, NOON)
  await sql`DELETE FROM ${sql.table('runs')}`.execute(database.db)
  await record(fact)
  expect(await totals()).toMatchObject({ succeeded: 1 })
})

test('what is folded is told by job, queue and schedule, by minute, hour and day', async () => {
  const schedule_id = randomUUID()
  await record(
    ended({ schedule_id, schedule: 'nightly' }),
    ended({ schedule_id, schedule: 'nightly', finished_at: after(90) }),
    ended({ job: 'report.generate', queue: 'reports', finished_at: after(3_700) }),
  )
  const all = { from: NOON, to: new Date(NOON.getTime() + 2 * 3_600_000) }
  const look = async () => ({
    all: (await runStats(database.db, { ...all, step: 'minute' })).series,
    hours: (await runStats(database.db, { ...all, step: 'hour' })).series,
    days: (await runStats(database.db, { ...all, step: 'day' })).series,
    job: await totals({ ...all, job: 'email.send' }),
    queue: await totals({ ...all, queue: 'reports' }),
    both: await totals({ ...all, job: 'email.send', queue: 'reports' }),
    schedule: (await runStats(database.db, { ...all, scheduleId: schedule_id })).series,
    other: await totals({ ...all, scheduleId: randomUUID() }),
  })
  const fresh = await look()
  expect(await foldAll()).toBe(3)
  expect(await look()).toEqual(fresh)
  await record(ended())
  expect((await look()).job.succeeded).toBe(3)
  await foldAll()
  expect((await look()).job.succeeded).toBe(3)
  expect(fresh.all.map(({ at }) => at.toISOString())).toEqual([after(0), after(60), after(3_660)])
  expect(fresh.hours.map(({ succeeded }) => succeeded)).toEqual([2, 1])
  expect(fresh.days.map(({ succeeded }) => succeeded)).toEqual([3])
  expect(fresh.days[0]?.at.toISOString()).toBe('2026-09-01T00:00:00.000Z')
  expect(fresh.job.succeeded).toBe(2)
  expect(fresh.queue.succeeded).toBe(1)
  expect(fresh.both.succeeded).toBe(0)
  expect(fresh.schedule.map(({ succeeded }) => succeeded)).toEqual([1, 1])
  expect(fresh.other).toMatchObject({ succeeded: 0, failureRate: null, wait: { p50Ms: null } })
})

test('the sums of queues and of all are no jobs of their own to alert rules', async () => {
  await record(ended({ state: 'dead', reason: 'failed' }))
  const query = { ...HOUR, minRuns: 1, rate: 0.5, matchers: {}, exceptQueue: 'alerts' }
  const fresh = await findFailureRates(database.db, query)
  expect(fresh).toEqual([{ job: 'email.send', queue: 'emails', runs: 1, dead: 1 }])
  await foldAll()
  expect(await findFailureRates(database.db, query)).toEqual(fresh)
})

test('rows are kept as long as their step says', async () => {
  await record(ended())
  await foldAll()
  const steps = async () => {
    const { rows } = await sql<{ step: string }>`
      SELECT DISTINCT step FROM ${sql.table('run_stats')} ORDER BY step`.execute(database.db)
    return rows.map(({ step }) => step)
  }
  await deleteOldStats(database.db, { now: inDays(1.9), statsDays: 90 })
  expect(await steps()).toEqual(['day', 'hour', 'minute'])
  await deleteOldStats(database.db, { now: inDays(3), statsDays: 90 })
  expect(await steps()).toEqual(['day', 'hour'])
  await deleteOldStats(database.db, { now: inDays(40), statsDays: 90 })
  expect(await steps()).toEqual(['day'])
  await deleteOldStats(database.db, { now: inDays(92), statsDays: 90 })
  expect(await steps()).toEqual([])
})
