import { DAY, type Retention } from '@jadwal/domain'
import { createTestDatabase } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import {
  type Db,
  dropPartitions,
  ensurePartitions,
  findRun,
  listDeadLetters,
  listRetentions,
  listRuns,
  noteRetentions,
  recordFacts,
  thinHistory,
} from '../src/index.ts'
import { keepRunsOfDay } from '../src/kept-runs.ts'
import { attemptFact, lines, NOON, runFact, runId } from './facts.ts'

const days = (count: number): Date => new Date(NOON.getTime() + count * DAY)
const goOn = () => Promise.resolve(true)

async function setup(): Promise<Db> {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  await ensurePartitions(database.db, { now: NOON, daysAhead: 0 })
  return database.db
}

const keeping = (retention: Retention, job = 'email.send') => [{ job, retention }]
const endedAt = (count: number) => ({ finished_at: days(count).toISOString() })

async function tableOf(db: Db, id: string): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    SELECT tableoid::regclass::text AS table FROM jadwal.runs WHERE id = ${id}
    UNION ALL SELECT tableoid::regclass::text FROM jadwal.runs_kept WHERE id = ${id}
    UNION ALL SELECT tableoid::regclass::text FROM jadwal.attempts WHERE run_id = ${id}
    UNION ALL SELECT tableoid::regclass::text FROM jadwal.attempts_kept WHERE run_id = ${id}
    ORDER BY 1`.execute(db)
  return rows.map(({ table }) => table)
}
const KEPT = ['jadwal.attempts_kept', 'jadwal.runs_kept']

test('runs of a job that keeps them shorter go, with their attempts; others, ticks and open letters stay', async () => {
  const db = await setup()
  const [old, young, tick, other] = [runId(), runId(), runId(), runId()]
  const [open, settled, running] = [runId(), runId(), runId()]
  const dead = { state: 'dead', reason: 'failed' } as const
  await recordFacts(
    db,
    lines(
      runFact({ id: old }),
      attemptFact({ id: old }),
      runFact({ id: young, ...endedAt(2) }),
      runFact({ id: tick, tick_at: NOON.toISOString() }),
      runFact({ id: other, job: 'other' }),
      runFact({ id: open, ...dead }),
      runFact({ id: settled, ...dead }),
      {
        kind: 'letter',
        id: settled,
        letter: { at: days(1).toISOString(), by: 'me', reason: 'no' },
      },
      runFact({ id: running, state: 'running' }),
    ),
  )
  const options = { now: days(3), retentionDays: 30, retentions: keeping({ days: 2 }), pause: goOn }
  expect(await thinHistory(db, options)).toBe(2)
  expect(await tableOf(db, old)).toEqual([])
  expect(await findRun(db, settled)).toBeUndefined()
  for (const id of [young, tick, other, open, running]) expect(await findRun(db, id)).toBeDefined()
  expect(await thinHistory(db, options)).toBe(0)
})

test('of a job that keeps failures alone, succeeded runs go when a day is over', async () => {
  const db = await setup()
  const [succeeded, cancelled, tick] = [runId(), runId(), runId()]
  const facts = [
    runFact({ id: succeeded }),
    runFact({ id: cancelled, state: 'cancelled', reason: 'cancelled' }),
    runFact({ id: tick, tick_at: NOON.toISOString() }),
  ]
  await recordFacts(db, lines(...facts))
  const options = { retentionDays: 30, retentions: keeping({ failures: true }), pause: goOn }
  expect(await thinHistory(db, { ...options, now: days(1) })).toBe(0)
  expect(await thinHistory(db, { ...options, now: days(2) })).toBe(1)
  expect(await findRun(db, succeeded)).toBeUndefined()
  expect(await findRun(db, cancelled)).toBeDefined()
  expect(await findRun(db, tick)).toBeDefined()

  // A duplicate of a fact brings the row back until the next time.
  await recordFacts(db, lines(...facts))
  expect(await thinHistory(db, { ...options, now: days(2) })).toBe(1)
})

test('of a sample the same share stays, in batches of any size, and where it was broken off', async () => {
  const db = await setup()
  await sql`
    INSERT INTO jadwal.runs (id, revision, state, job, queue, enqueued_at, attempt, finished_at)
    SELECT (${runId().slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid, 13, 'succeeded', 'email.send', 'b',
      ${NOON}::timestamptz, 1, ${NOON}::timestamptz FROM generate_series(1, 12000) AS n`.execute(db)
  const options = { now: days(2), retentionDays: 30, retentions: keeping({ sample: 0.1 }) }
  let batches = 0
  // The first one finds the day before empty.
  const pause = (): Promise<boolean> => Promise.resolve(++batches < 2)
  const first = await thinHistory(db, { ...options, pause })
  expect(first).toBeGreaterThan(4_000)
  expect(first).toBeLessThan(5_000)
  const rest = await thinHistory(db, { ...options, pause: goOn })
  const { rows } = await sql<{ count: number }>`SELECT count(*) FROM jadwal.runs`.execute(db)
  expect(rows[0]?.count).toBe(12_000 - first - rest)
  expect(rows[0]?.count).toBeGreaterThan(1_000)
  expect(rows[0]?.count).toBeLessThan(1_400)
  expect(await thinHistory(db, { ...options, pause: goOn })).toBe(0)
})

test('runs of a job that keeps them longer outlive their day, are found as before, and go by their own days', async () => {
  const db = await setup()
  const [kept, dead, delayed, other] = [runId(), runId(), runId(), runId()]
  await recordFacts(
    db,
    lines(
      runFact({ id: kept, idempotency_key: 'k-1' }),
      runFact({ id: dead, state: 'dead', reason: 'failed', attempt_state: 'failed' }),
      runFact({ id: delayed, state: 'queued', attempt: 0 }),
      runFact({ id: other, job: 'other' }),
    ),
  )
  const options = { retentionDays: 2, retentions: keeping({ days: 10 }) }
  expect(await dropPartitions(db, { ...options, now: days(3) })).toContain('runs_20260901')
  expect(await tableOf(db, dead)).toEqual(KEPT)
  expect(await tableOf(db, kept)).toEqual(['jadwal.runs_kept'])
  expect(await findRun(db, other)).toBeUndefined()
  expect((await findRun(db, dead))?.attempts).toHaveLength(1)
  const list = await listRuns(db, { job: 'email.send' }, {})
  expect(list.items.map(({ run }) => run.id).toSorted()).toEqual([kept, dead, delayed].toSorted())
  expect((await listRuns(db, { idempotencyKey: 'k-1' }, {})).items).toHaveLength(1)
  expect((await listDeadLetters(db, { settled: 'no' }, {})).items).toHaveLength(1)

  // What lives on in the default partition is kept as long, from its end on.
  await recordFacts(db, lines(runFact({ id: delayed, ...endedAt(5) })))
  await dropPartitions(db, { ...options, now: days(8) })
  expect(await tableOf(db, delayed)).toEqual(['jadwal.runs_kept'])
  expect(await findRun(db, kept)).toBeDefined()
  await dropPartitions(db, { ...options, now: days(11) })
  expect(await findRun(db, kept)).toBeUndefined()
  expect(await tableOf(db, dead)).toEqual([])
  expect(await findRun(db, delayed)).toBeDefined()
  // A job that says nothing any more keeps its runs as long as all others.
  await dropPartitions(db, { now: days(11), retentionDays: 2 })
  expect(await findRun(db, delayed)).toBeUndefined()
})

test('a crash between moving and dropping loses and doubles nothing, with two leaders at once', async () => {
  const db = await setup()
  const ids = Array.from({ length: 50 }, () => runId())
  const facts = ids.flatMap((id) => [runFact({ id }), attemptFact({ id })])
  await recordFacts(db, lines(...facts))
  const options = { now: days(3), retentionDays: 2, retentions: keeping({ days: 10 }) }
  const day = { table: 'runs_20260901', startMs: Math.floor(NOON.getTime() / DAY) * DAY }
  await Promise.all([1, 2].map(() => keepRunsOfDay(db, day, options)))
  // The leader dies here. A recorder brings one row again before the next one drops the day.
  await recordFacts(db, lines(...facts.slice(0, 2)))
  const found = await listRuns(db, {}, { limit: 200 })
  expect(found.items.map(({ run }) => run.id)).toEqual(ids.toSorted().toReversed())
  const dropped = await Promise.all([1, 2].map(() => dropPartitions(db, options)))
  expect(dropped.flat().filter((name) => name === 'runs_20260901')).toHaveLength(1)
  for (const id of ids) expect(await tableOf(db, id)).toEqual(KEPT)
})

test('a run in a sample that is kept longer is moved, one that is not goes with its day', async () => {
  const db = await setup()
  const ids = Array.from({ length: 200 }, () => runId())
  await recordFacts(db, lines(...ids.map((id) => runFact({ id, tick_at: NOON.toISOString() }))))
  const retentions = keeping({ days: 10, sample: 0.5 })
  await dropPartitions(db, { now: days(3), retentionDays: 2, retentions })
  const { rows } = await sql<{ count: number }>`SELECT count(*) FROM jadwal.runs_kept`.execute(db)
  expect(rows[0]?.count).toBeGreaterThan(60)
  expect(rows[0]?.count).toBeLessThan(140)
})

test('what a job said last holds when it is no longer published, and for a day when it says nothing', async () => {
  const db = await setup()
  const job = { name: 'email.send', retention: { days: 90 } }
  await noteRetentions(db, [job, { name: 'other' }], NOON)
  await noteRetentions(db, [], days(50))
  expect(await listRetentions(db)).toEqual(keeping({ days: 90 }))
  await noteRetentions(db, [{ name: 'email.send' }], days(50))
  await noteRetentions(db, [{ name: 'email.send' }], days(50.9))
  expect(await listRetentions(db)).toEqual(keeping({ days: 90 }))
  await noteRetentions(db, [{ ...job, retention: { days: 5 } }], days(50.95))
  await noteRetentions(db, [job], days(52))
  expect(await listRetentions(db)).toEqual(keeping({ days: 90 }))
  await noteRetentions(db, [{ name: 'email.send' }], days(52))
  await noteRetentions(db, [{ name: 'email.send' }], days(54))
  expect(await listRetentions(db)).toEqual([])
})

test('the tables of the history and of what is kept longer have the same columns', async () => {
  const db = await setup()
  const { rows } = await sql<{ tables: string }>`
    SELECT string_agg(table_name, ' ' ORDER BY table_name) AS tables FROM information_schema.columns
    WHERE table_schema = 'jadwal' AND table_name IN ('runs', 'runs_kept', 'attempts', 'attempts_kept')
    GROUP BY column_name, left(table_name, 4)`.execute(db)
  expect(new Set(rows.map(({ tables }) => tables))).toEqual(
    new Set(['runs runs_kept', 'attempts attempts_kept']),
  )
})
