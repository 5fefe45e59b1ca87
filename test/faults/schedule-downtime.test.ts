import { applySchedules } from '@jadwal/db'
import { keys } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { grouped, type HistoryRow } from '../ledger/history.ts'
import { expectHistory } from '../support/expect-order.ts'
import { readHistory } from '../support/read-ledger.ts'
import { setupSchedulers } from '../support/schedulers.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DEFAULT_AFTER_MS = MINUTE

/** How many misfires each policy fires, of `misfires`, with a tick each `everyMs`; and how old they may be. */
const POLICIES = {
  once: { misfire: { policy: 'once' }, fires: () => 1 },
  'all-five': {
    misfire: { policy: 'all', limit: 5 },
    fires: (misfires: number) => Math.min(5, misfires),
  },
  skip: { misfire: { policy: 'skip' }, fires: () => 0 },
  'skip-soon': { misfire: { policy: 'skip', after: '40s' }, afterMs: 40 * SECOND, fires: () => 0 },
  'once-within': {
    misfire: { policy: 'once', within: '30s', after: '20s' },
    afterMs: 20 * SECOND,
    withinMs: 30 * SECOND,
  },
  'all-within': { misfire: { policy: 'all', limit: 1_000, within: '10m' }, withinMs: 10 * MINUTE },
} as const
const CADENCES = {
  second: { every: '1s' },
  minute: { every: '1m' },
  'five-minutes': { cron: '*/5 * * * *', timezone: 'Asia/Kathmandu' },
} as const

interface Rule {
  misfire: object
  afterMs?: number
  withinMs?: number
  fires?: (misfires: number) => number
}

test('an hour without any scheduler: each tick has its verdict, and long ranges are one row', async () => {
  const system = await setupSchedulers({ schedules: 0 })
  const { start, startRecorder, leader, database, consumer } = system
  const names = Object.keys(POLICIES).flatMap((policy) =>
    Object.keys(CADENCES).map((cadence) => `${policy}.${cadence}`),
  )
  await apply(system, Object.fromEntries(names.map((name) => [name, input(name)])))
  await beDown(system, anHourAgo())

  const [first, second] = [start(), start()]
  await Promise.all([first.ready, second.ready])
  // In the middle of catching up.
  const killed = await leader()
  await killed.kill()
  await leader(killed)
  startRecorder()
  const { expected } = await expectHistory(database.db)
  expect(expected).toBeGreaterThan(names.length * 12)

  const { rows } = await readHistory(database.db)
  const schedules = await database.db.selectFrom('schedules').select(['id', 'name']).execute()
  const byId = grouped(rows, ({ schedule_id }) => schedule_id ?? '')
  for (const { id, name } of schedules) expectVerdicts(name, byId.get(id) ?? [])
  const fired = rows.filter(({ state }) => state !== 'skipped').map(({ id }) => id)
  await eventually(() => expect(consumer.sightings.length).toBeGreaterThanOrEqual(fired.length), {
    timeoutMs: 60_000,
  })
  const seen = consumer.sightings.map(({ scheduleId, tickAtMs }) => `${scheduleId} ${tickAtMs}`)
  expect(new Set(seen).size).toBe(seen.length)
})

test('what was edited, paused, ended or deleted while no scheduler ran is caught up with as it was then', async () => {
  const system = await setupSchedulers({ schedules: 0 })
  const { start, startRecorder, database } = system
  const { db } = database
  const downMs = anHourAgo()
  const at = (minutes: number): Date => new Date(downMs + minutes * MINUTE)
  const everySecond = { job: 'noted', overlap: 'allow', every: '1s' }
  await apply(system, {
    edited: everySecond,
    paused: everySecond,
    ended: { ...everySecond, endsAt: at(30).toISOString() },
    deleted: everySecond,
  })
  await beDown(system, downMs)
  const rarer = { ...everySecond, every: '1m', misfire: { policy: 'all', limit: 5 } }
  await apply(system, { edited: rarer }, ['deleted'])
  const changed = await db.selectFrom('schedules').select(['id', 'name']).execute()
  const idOf = (name: string): string => changed.find((one) => one.name === name)?.id ?? ''
  await db
    .updateTable('schedule_versions')
    .set({ until_at: at(30) })
    .where('until_at', 'is not', null)
    .execute()
  await db
    .updateTable('schedule_versions')
    .set({ from_at: at(30) })
    .where('version', '=', 2)
    .execute()
  await db
    .insertInto('schedule_pauses')
    .values({
      schedule_id: idOf('paused'),
      from_at: at(10),
      until_at: at(20),
      reason: null,
      author: 'test',
      resumed_by: null,
    })
    .execute()

  await start().ready
  startRecorder()
  await expectHistory(db)
  const { rows } = await readHistory(db)
  const misfires = (name: string): string[] =>
    rows
      .filter(({ schedule_id }) => schedule_id === idOf(name))
      .filter((row) => row.state === 'skipped' || ageMs(row) > DEFAULT_AFTER_MS)
      .toSorted((a, b) => (a.tick_at?.getTime() ?? 0) - (b.tick_at?.getTime() ?? 0))
      .map(({ state, reason, tick_count }) => [reason ?? state, tick_count ?? 1].join(' '))
  const half = 30 * 60
  // Each version by its own policy: the first one fires its newest misfire, the second one five.
  const ofTheFirst = [`misfire ${half - 1}`, 'queued 1']
  expect(misfires('edited').slice(0, 2)).toEqual(ofTheFirst)
  expect(misfires('edited').slice(3)).toEqual(Array.from({ length: 5 }, () => 'queued 1'))
  expect(misfires('paused').slice(0, 2)).toEqual(['misfire 600', 'paused 600'])
  expect(misfires('paused').slice(3)).toEqual(['queued 1'])
  expect(misfires('ended')).toEqual(ofTheFirst)
  expect(misfires('deleted')).toEqual(ofTheFirst)
})

/** An instant at which every cadence here has a tick. */
function anHourAgo(): number {
  return Math.floor((Date.now() - HOUR) / (5 * MINUTE)) * 5 * MINUTE
}

async function apply(
  { database }: Awaited<ReturnType<typeof setupSchedulers>>,
  inputs: Readonly<Record<string, Record<string, unknown>>>,
  removed: readonly string[] = [],
): Promise<void> {
  await applySchedules(database.db, {
    schedules: Object.entries(inputs).map(([name, given]) => ({ name, input: given })),
    remove: { schedules: removed },
    prune: false,
    source: 'file',
    author: 'test',
  })
}

function input(name: string): Record<string, unknown> {
  const { policy, cadence } = partsOf(name)
  const rule: Rule = POLICIES[policy]
  return { job: 'noted', overlap: 'allow', misfire: rule.misfire, ...CADENCES[cadence] }
}

function partsOf(name: string) {
  const [policy, cadence] = name.split('.')
  return { policy: policy as keyof typeof POLICIES, cadence: cadence as keyof typeof CADENCES }
}

/**
 * All schedules have been there since an instant, and nobody has fired a tick of theirs from then on. Of
 * some the last tick before it is known; the others had none.
 */
async function beDown(
  { database, redis, prefix }: Awaited<ReturnType<typeof setupSchedulers>>,
  sinceMs: number,
): Promise<void> {
  await database.db
    .updateTable('schedule_versions')
    .set({ from_at: new Date(sinceMs) })
    .execute()
  const schedules = await database.db.selectFrom('schedules').select(['id', 'name']).execute()
  for (const { id, name } of schedules) {
    if (partsOf(name).cadence === 'minute') continue
    await redis.hset(keys.lastTicksKey(prefix, 'noted'), id, sinceMs)
    await redis.hset(keys.homesKey(prefix), id, 'noted')
  }
}

/** By the instant at which each was decided, worked out anew. */
function expectVerdicts(name: string, rows: readonly HistoryRow[]): void {
  const rule: Rule = POLICIES[partsOf(name).policy]
  const { afterMs = DEFAULT_AFTER_MS, withinMs = Infinity } = rule
  const skipped = rows.filter(({ state }) => state === 'skipped')
  const fired = rows.filter(({ state }) => state !== 'skipped')
  const misfires = fired.filter((row) => ageMs(row) > afterMs)
  const said = { name, skipped: skipped.map(({ reason }) => reason) }
  expect({ ...said, skipped: new Set(said.skipped) }).toEqual({
    name,
    skipped: new Set(['misfire']),
  })
  expect({ name, young: skipped.filter((row) => ageMs(row) <= afterMs) }).toEqual({
    name,
    young: [],
  })
  expect({ name, old: misfires.filter((row) => ageMs(row) > withinMs) }).toEqual({ name, old: [] })
  // What is skipped is older than all that is fired, so it is one range.
  const count = skipped.reduce((sum, { tick_count }) => sum + (tick_count ?? 1), 0)
  expect({ name, rows: skipped.length }).toEqual({ name, rows: 1 })
  const oldest = Math.min(...fired.map(({ tick_at }) => tick_at?.getTime() ?? 0))
  expect(skipped.filter(({ tick_at }) => (tick_at?.getTime() ?? Infinity) > oldest)).toEqual([])
  const due = rule.fires?.(count + misfires.length) ?? misfires.length
  expect({ name, misfires: misfires.length }).toEqual({ name, misfires: due })
}

/** How old a tick, or the last one of a range, was when it was decided. */
function ageMs({ tick_at, tick_until, enqueued_at }: HistoryRow): number {
  return enqueued_at.getTime() - (tick_until ?? tick_at ?? enqueued_at).getTime()
}
