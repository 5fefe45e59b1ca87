import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { findRun, listRetentions, noteRetentions, recordFacts, thinHistory } from '../src/index.ts'
import { attemptFact, lines, NOON, runFact, runId } from './facts.ts'
import { days, endedAt, keeping, setup, tableOf } from './retention-setup.ts'

const goOn = () => Promise.resolve(true)

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
  let statements = 0
  // The first two look for the queues of the day before, and of the day.
  const pause = (): Promise<boolean> => Promise.resolve(++statements < 3)
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
