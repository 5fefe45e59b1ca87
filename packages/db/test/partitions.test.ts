import { DAY } from '@jadwal/domain'
import { createTestDatabase } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { dropPartitions, ensurePartitions, findRun, recordFacts } from '../src/index.ts'
import { attemptFact, lines, NOON, runFact, runId } from './facts.ts'

const dayOf = (id: string, db: Parameters<typeof findRun>[0]) =>
  sql<{ table: string }>`
    SELECT tableoid::regclass::text AS table FROM jadwal.runs WHERE id = ${id}
    UNION ALL SELECT tableoid::regclass::text FROM jadwal.attempts WHERE run_id = ${id} ORDER BY 1`
    .execute(db)
    .then(({ rows }) => rows.map(({ table }) => table))

test('makes the days from yesterday on, once, also when several do it at a time', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  const made = await Promise.all(
    [1, 2, 3].map(() => ensurePartitions(db, { now: NOON, daysAhead: 1 })),
  )
  expect(made.flat().toSorted()).toEqual([
    'attempts_20260831',
    'attempts_20260901',
    'attempts_20260902',
    'runs_20260831',
    'runs_20260901',
    'runs_20260902',
  ])
  expect(await ensurePartitions(db, { now: NOON, daysAhead: 1 })).toEqual([])
})

test('rows without a day go to the default partition and move when their day is made', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  const id = runId()
  const other = runId(new Date(NOON.getTime() + 10 * DAY))
  const facts = [id, other].flatMap((each) => [runFact({ id: each }), attemptFact({ id: each })])
  await recordFacts(db, lines(...facts))
  expect(await dayOf(id, db)).toEqual(['jadwal.attempts_default', 'jadwal.runs_default'])

  await ensurePartitions(db, { now: NOON, daysAhead: 0 })
  expect(await dayOf(id, db)).toEqual(['jadwal.attempts_20260901', 'jadwal.runs_20260901'])
  expect(await dayOf(other, db)).toEqual(['jadwal.attempts_default', 'jadwal.runs_default'])
  expect(await recordFacts(db, lines(...facts))).toEqual({ runs: 0, attempts: 0, terms: 0 })
})

test('recording goes on while days are made', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  const ids = Array.from({ length: 40 }, () => runId())
  const making = ensurePartitions(db, { now: NOON, daysAhead: 1 })
  for (const id of ids) {
    const fact = lines(runFact({ id }))
    // What waits for the lock of a day that is just made is refused once.
    await recordFacts(db, fact).catch(() => recordFacts(db, fact))
  }
  await making
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM jadwal.runs_20260901`.execute(db)
  expect(rows).toEqual([{ count: 40 }])
})

test('drops days beyond the retention, and what is as old in the default partition', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  await ensurePartitions(db, { now: NOON, daysAhead: 1 })
  const old = runId(new Date(NOON.getTime() - 5 * DAY))
  const kept = runId()
  await recordFacts(
    db,
    lines(runFact({ id: old }), attemptFact({ id: old }), runFact({ id: kept })),
  )

  const now = new Date(NOON.getTime() + 2 * DAY)
  const dropped = await dropPartitions(db, { now, retentionDays: 2 })
  expect(dropped.toSorted()).toEqual(['attempts_20260831', 'runs_20260831'])
  expect(await findRun(db, old)).toBeUndefined()
  expect(await dayOf(old, db)).toEqual([])
  expect(await findRun(db, kept)).toBeDefined()
  expect(await dropPartitions(db, { now, retentionDays: 2 })).toEqual([])
})
