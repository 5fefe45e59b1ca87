import { setTimeout as delay } from 'node:timers/promises'
import { applySchedules } from '@jadwal/db'
import { eventually, type TestRedis } from '@jadwal/testkit'
import { expect } from 'vitest'
import { checkOverlaps } from '../ledger/check-overlaps.ts'
import { apiClient, type Ask } from './api-client.ts'
import { expectHistory } from './expect-order.ts'
import { Kept, pick } from './kept.ts'
import { readHistory } from './read-ledger.ts'
import { readSpans } from './read-spans.ts'
import { JOBS, setupSystem } from './system.ts'

const MINUTE = 60_000
/** The policies under which no two runs of a schedule may be executed at once. */
const POLICIES = ['skip', 'queue-latest', 'cancel-running'] as const
/** Longer than the interval of the schedules, so that each tick meets an unfinished run. */
const HANDLER_MS = 1_700
/** So long that no worker of a busy machine loses the lock of a run that it is executing. */
const LOCK_MS = 5_000
const PAST_TICKS = 300
const BACKFILL_RATE = 30
/** A held run waits for a lost one's lock to run out, at most so often in a row until it is dead. */
const GOES_ON_WITHIN_MS = 60_000

const USUAL_ENDS = new Set([
  'succeeded null',
  'skipped overlap',
  'cancelled superseded',
  'dead lost',
])

export interface ActsChaos {
  chaosMs: number
  /** A Redis of the test's own, which then goes away now and then, for less than a lock lasts. */
  redis?: TestRedis
}

type System = Awaited<ReturnType<typeof setupSystem>>

/**
 * Schedules of every policy that forbids overlaps, runs by hand and a backfill, while leaders and
 * workers are killed and leaders step down, for `chaosMs`: no two executions of a schedule overlap, all
 * goes on afterwards, and each tick of schedules and backfill has what it is due.
 */
export async function expectActsToHold({ chaosMs, redis }: ActsChaos): Promise<void> {
  const system = await setupSystem({
    env: { JADWAL_LOCK_MS: String(LOCK_MS) },
    ...(redis ? { redisUrl: redis.url } : {}),
  })
  const { start, database } = system
  const schedulers = [new Kept(() => start('scheduler')), new Kept(() => start('scheduler'))]
  const workers = [new Kept(() => start('worker')), new Kept(() => start('worker'))]
  const [recorder, api] = [start('recorder'), start('api')]
  await Promise.all(
    [recorder, api, ...[...schedulers, ...workers].map((k) => k.service)].map((s) => s.ready),
  )
  const ask = apiClient(api, 'test-admin-token')
  await apply(system, [...POLICIES.map(overlapping), past()])
  const backfillId = await startBackfill(ask)

  const triggered: string[] = []
  const acts = [
    () => pick(workers).service.kill(),
    () => pick(workers).service.kill(),
    () => pick(schedulers).service.kill(),
    () => ask('POST', '/leader/step-down'),
    ...(redis ? redisFaults(redis) : []),
  ]
  const untilMs = Date.now() + chaosMs
  for (let at = 0; Date.now() < untilMs; at += 1) {
    await acts[at % acts.length]?.()
    for (let n = 0; n < 3; n += 1) {
      await delay(300 + Math.random() * 300)
      triggered.push(...(await trigger(ask)))
    }
  }
  await expectAllGoesOn(system)
  await expectBackfilled(system, ask, backfillId)
  await expectHistory(database.db, { withinMs: GOES_ON_WITHIN_MS })
  await expectNoOverlap(system, workers)
  await expectEnds(system, triggered)
}

function redisFaults(redis: TestRedis): (() => Promise<void>)[] {
  return [
    async () => {
      await redis.kill()
      await redis.start()
    },
    async () => {
      redis.pause()
      await delay(1_500)
      redis.resume()
    },
  ]
}

function overlapping(overlap: string): { name: string; input: Record<string, unknown> } {
  const payload = { ms: HANDLER_MS }
  return { name: overlap, input: { job: JOBS.span.name, every: '1s', overlap, payload } }
}

/** It has no ticks of its own yet; a backfill goes by its cadence. */
function past(): { name: string; input: Record<string, unknown> } {
  const startsAt = new Date(Date.now() + 24 * 60 * MINUTE).toISOString()
  return { name: 'past', input: { job: JOBS.quick.name, every: '1m', startsAt, payload: { n: 1 } } }
}

/** Deletes those that are not given. */
async function apply(
  { database }: System,
  schedules: { name: string; input: Record<string, unknown> }[],
): Promise<void> {
  await applySchedules(database.db, { schedules, prune: true, source: 'file', author: 'test' })
}

async function startBackfill(ask: Ask): Promise<string> {
  const to = Math.floor(Date.now() / MINUTE) * MINUTE
  const { status, body } = await ask('POST', '/schedules/past/backfill', {
    from: new Date(to - PAST_TICKS * MINUTE).toISOString(),
    to: new Date(to).toISOString(),
    rate: BACKFILL_RATE,
    concurrency: 20,
  })
  expect({ status, body }).toMatchObject({ status: 202 })
  return String(body['id'])
}

/** The id of the run that came of it, if one did. */
async function trigger(ask: Ask): Promise<string[]> {
  const overlap = pick([undefined, 'queue-latest', 'cancel-running'])
  const name = pick(POLICIES)
  const { status, body } = await ask(
    'POST',
    `/schedules/${name}/trigger`,
    overlap ? { overlap } : {},
  )
  if (status === 202) return [String(body['id'])]
  // Redis is away: nobody knows whether there will be a run.
  if (status === 503) return []
  // Where overlaps are skipped, a run that is unfinished refuses another.
  expect({ status, body, name, overlap }).toMatchObject({ status: 409, name: 'skip' })
  return []
}

/** Each schedule gets a run that is executed from here on. */
async function expectAllGoesOn({ redis, prefix, database }: System): Promise<void> {
  const sinceMs = Date.now()
  await eventually(
    async () => {
      const spans = await readSpans({ redis, prefix }, new Map())
      const begun = spans.filter(({ fromMs }) => fromMs > sinceMs).map(({ runId }) => runId)
      const rows = await database.db
        .selectFrom('runs')
        .select('schedule')
        .distinct()
        .where('id', 'in', ['00000000-0000-0000-0000-000000000000', ...begun])
        .execute()
      expect(new Set(rows.map(({ schedule }) => schedule))).toEqual(new Set(POLICIES))
    },
    { timeoutMs: GOES_ON_WITHIN_MS, everyMs: 500 },
  )
}

async function expectBackfilled({ database }: System, ask: Ask, id: string): Promise<void> {
  await eventually(
    async () => {
      const { body } = await ask('GET', `/backfills/${id}`)
      expect(body).toMatchObject({ state: 'done' })
      const runs = (await readHistory(database.db)).rows.filter(
        ({ backfill_id }) => backfill_id === id,
      )
      expect(runs.filter(({ state }) => state !== 'succeeded')).toEqual([])
      expect(new Set(runs.map(({ tick_at }) => tick_at?.getTime())).size).toBe(PAST_TICKS)
      expect(runs).toHaveLength(PAST_TICKS)
    },
    { timeoutMs: GOES_ON_WITHIN_MS, everyMs: 500 },
  )
}

async function expectNoOverlap(system: System, workers: readonly Kept[]): Promise<void> {
  const ends = new Map(workers.flatMap(({ endedAtMs }) => [...endedAtMs]))
  const spans = await readSpans(system, ends)
  const { rows } = await readHistory(system.database.db)
  const schedules = new Map(rows.map(({ id, schedule_id }) => [id, schedule_id ?? 'nobody']))
  const executions = spans.map(({ runId, fromMs, untilMs }) => {
    return { runId, fromMs, untilMs, scheduleId: schedules.get(runId) ?? 'nobody' }
  })
  expect(executions.length).toBeGreaterThan(10)
  expect(checkOverlaps(executions)).toEqual([])
}

/** Without its schedules all comes to an end, in ways that somebody asked for, and Redis forgets it. */
async function expectEnds(system: System, triggered: readonly string[]): Promise<void> {
  const { database } = system
  await eventually(async () => expect(await overlapKeys(system)).not.toEqual([]))
  await apply(system, [])
  await eventually(
    async () => {
      const { rows } = await readHistory(database.db)
      const ends = new Map(rows.map(({ id, state, reason }) => [id, `${state} ${reason}`]))
      expect(triggered.filter((id) => !ends.has(id))).toEqual([])
      expect([...ends].filter(([, end]) => !USUAL_ENDS.has(end))).toEqual([])
      expect(await overlapKeys(system)).toEqual([])
    },
    { timeoutMs: GOES_ON_WITHIN_MS, everyMs: 500 },
  )
}

/** What Redis keeps about runs that are unfinished, held or to be cancelled. */
async function overlapKeys({ redis, prefix }: System): Promise<string[]> {
  const companions = await redis.keys(`{${prefix}:${JOBS.span.queue}}:*`)
  return companions.filter((key) => /\}:(?:unfinished|held|cancels)/.test(key))
}
