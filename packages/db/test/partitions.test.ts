import { DAY } from '@jadwal/domain'
import { createTestDatabase } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { dropPartitions, ensurePartitions, findRun, recordFacts } from '../src/index.ts'
import { livesOn } from '../src/partitions.ts'
import { attemptFact, lines, NOON, runFact, runId } from './facts.ts'

const days = (count: number) => new Date(NOON.getTime() + count * DAY)
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
  expect(await recordFacts(db, lines(...facts))).toEqual({
    runs: 0,
    attempts: 0,
    terms: 0,
    letters: 0,
    audits: 0,
  })
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
    lines(
      runFact({ id: old, finished_at: new Date(NOON.getTime() - 2 * DAY).toISOString() }),
      attemptFact({ id: old }),
      runFact({ id: kept }),
    ),
  )

  const now = new Date(NOON.getTime() + 2 * DAY)
  const dropped = await dropPartitions(db, { now, retentionDays: 2 })
  expect(dropped.toSorted()).toEqual(['attempts_20260831', 'runs_20260831'])
  expect(await findRun(db, old)).toBeUndefined()
  expect(await dayOf(old, db)).toEqual([])
  expect(await findRun(db, kept)).toBeDefined()
  expect(await dropPartitions(db, { now, retentionDays: 2 })).toEqual([])
})

test('a run that is delayed beyond the retention keeps its row and attempts, and its end is kept as long', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  await ensurePartitions(db, { now: NOON, daysAhead: 0 })
  const delayed = runId()
  const done = runId()
  const waiting = runFact({ id: delayed, state: 'retrying', attempt: 1 })
  const facts = [delayed, done].map((id) => attemptFact({ id, attempt_state: 'failed' }))
  await recordFacts(db, lines(waiting, runFact({ id: done }), ...facts))

  const dropped = await dropPartitions(db, { now: days(5), retentionDays: 2 })
  expect(dropped).toContain('runs_20260901')
  expect(await findRun(db, done)).toBeUndefined()
  expect(await dayOf(done, db)).toEqual([])
  expect(await findRun(db, delayed)).toMatchObject({
    run: { state: 'retrying' },
    attempts: [{ attempt: 1, state: 'failed' }],
  })

  const end = { attempt: 2, finished_at: days(9).toISOString() }
  await recordFacts(db, lines(runFact({ id: delayed, ...end })))
  await dropPartitions(db, { now: days(11), retentionDays: 2 })
  expect(await findRun(db, delayed)).toMatchObject({
    run: { state: 'succeeded' },
    attempts: [{ attempt: 1, state: 'failed' }],
  })
  await dropPartitions(db, { now: days(12), retentionDays: 2 })
  expect(await dayOf(delayed, db)).toEqual([])
})

test('a day with more unfinished runs than can be moved at one go stays', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  await ensurePartitions(db, { now: NOON, daysAhead: 0 })
  await sql`
    INSERT INTO jadwal.runs (id, revision, state, job, queue, enqueued_at, attempt)
    SELECT (${runId().slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid, 1, 'queued', 'a', 'b', now(), 0
    FROM generate_series(1, 10001) AS n`.execute(db)
  const options = { now: new Date(NOON.getTime() + 9 * DAY), retentionDays: 2 }
  expect(await dropPartitions(db, options)).toEqual(['runs_20260831', 'attempts_20260831'])

  await sql`UPDATE jadwal.runs SET state = 'dead', finished_at = ${NOON}
    WHERE id IN (SELECT id FROM jadwal.runs LIMIT 1)`.execute(db)
  expect(await dropPartitions(db, options)).toEqual(['runs_20260901', 'attempts_20260901'])
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM jadwal.runs_default`.execute(db)
  expect(rows).toEqual([{ count: 10_000 }])
})

test('recording goes on while days are dropped', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  for (let day = -8; day <= 0; day += 2)
    await ensurePartitions(db, { now: new Date(NOON.getTime() + day * DAY), daysAhead: 0 })
  const ids = Array.from({ length: 60 }, (_, at) =>
    runId(new Date(NOON.getTime() - (at % 9) * DAY)),
  )
  await recordFacts(db, lines(...ids.map((id) => runFact({ id, state: 'queued', attempt: 0 }))))
  const dropping = dropPartitions(db, { now: NOON, retentionDays: 1 })
  for (const id of ids) await recordFacts(db, lines(runFact({ id, state: 'retrying' })))
  expect(await dropping).toHaveLength(16)
  const { rows } = await sql<{ state: string; count: number }>`
    SELECT state, count(*) FROM jadwal.runs GROUP BY state`.execute(db)
  expect(rows).toEqual([{ state: 'retrying', count: 60 }])
})

test('the runs of a day that live on are found without reading the others', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  await ensurePartitions(db, { now: NOON, daysAhead: 0 })
  const facts = Array.from({ length: 3_000 }, () => runFact({ id: runId() }))
  const again = runFact({ redrive_of: runId(), finished_at: days(20).toISOString() })
  await recordFacts(db, lines(...facts, again, runFact({ state: 'queued' })))
  await sql`ANALYZE ${sql.table('runs_20260901')}`.execute(db)
  const { rows } = await sql<{ 'QUERY PLAN': string }>`
    EXPLAIN SELECT * FROM ${sql.table('runs_20260901')}
    WHERE ${livesOn(days(10).getTime())}`.execute(db)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).not.toContain('Seq Scan')
})
