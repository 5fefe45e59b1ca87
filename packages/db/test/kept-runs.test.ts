import { eventually } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { deleteOldFromDefault } from '../src/default-partition.ts'
import { dropPartitions, findRun, listDeadLetters, listRuns, recordFacts } from '../src/index.ts'
import { keepRunsOfDay } from '../src/kept-runs.ts'
import { outliveAny } from '../src/retention-rules.ts'
import { attemptFact, lines, NOON, runFact, runId } from './facts.ts'
import { DAY_OF_NOON, days, endedAt, KEPT, keeping, setup, tableOf } from './retention-setup.ts'

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
  await Promise.all([1, 2].map(() => keepRunsOfDay(db, DAY_OF_NOON, options)))
  // The leader dies here. A recorder brings one row again before the next one drops the day.
  await recordFacts(db, lines(...facts.slice(0, 2)))
  const found = await listRuns(db, {}, { limit: 200 })
  expect(found.items.map(({ run }) => run.id)).toEqual(ids.toSorted().toReversed())
  const dropped = await Promise.all([1, 2].map(() => dropPartitions(db, options)))
  expect(dropped.flat().filter((name) => name === 'runs_20260901')).toHaveLength(1)
  for (const id of ids) expect(await tableOf(db, id)).toEqual(KEPT)
})

test('runs that stay are not looked at again for each batch of those that are kept', async () => {
  const db = await setup()
  const [stay, keep] = [20_000, 10_000]
  await sql`
    INSERT INTO jadwal.runs (id, revision, state, job, queue, enqueued_at, attempt, finished_at)
    SELECT (${runId().slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid, 13, 'succeeded', 'email.send', 'b',
      ${NOON}::timestamptz, 1, CASE WHEN n <= ${stay} THEN ${days(-20)}::timestamptz ELSE ${NOON} END
    FROM generate_series(1, ${stay + keep}::int) AS n`.execute(db)
  await sql`ANALYZE jadwal.runs`.execute(db)
  const read = async (): Promise<number> => {
    await sql`SELECT pg_stat_force_next_flush()`.execute(db)
    const { rows } = await sql<{ read: number }>`
      SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS read
      FROM pg_stat_user_tables WHERE relname = 'runs_20260901'`.execute(db)
    return rows[0]?.read ?? 0
  }
  const before = await read()
  const options = { now: days(3), retentionDays: 2, retentions: keeping({ days: 10 }) }
  await keepRunsOfDay(db, DAY_OF_NOON, options)
  const { rows } = await sql<{ count: number }>`SELECT count(*) FROM jadwal.runs_kept`.execute(db)
  expect(rows[0]?.count).toBe(keep)
  const fetched = await eventually(async () => {
    const since = (await read()) - before
    expect(since).toBeGreaterThanOrEqual(stay + keep)
    return since
  })
  // Once to find them, once to delete those that are kept.
  expect(fetched).toBeLessThan(1.5 * (stay + 2 * keep))
})

test('what was recorded before a move began is not looked at again when its day is dropped', async () => {
  const db = await setup()
  const id = runId()
  await recordFacts(db, lines(runFact({ id })))
  const options = { now: days(3), retentionDays: 2, retentions: keeping({ days: 10 }) }
  const { rows } = await sql<{ at: Date }>`SELECT recorded_at AS at FROM jadwal.runs`.execute(db)
  const atMs = rows[0]?.at.getTime() ?? 0
  await keepRunsOfDay(db, { ...DAY_OF_NOON, recordedFrom: new Date(atMs + 1) }, options)
  expect(await tableOf(db, id)).toEqual(['jadwal.runs_20260901'])
  await keepRunsOfDay(db, { ...DAY_OF_NOON, recordedFrom: new Date(atMs) }, options)
  expect(await tableOf(db, id)).toEqual(['jadwal.runs_kept'])
})

test('what is told later of a run that is kept already takes its place, and what is older does not', async () => {
  const db = await setup()
  const id = runId()
  const first = [
    runFact({ id, state: 'dead', reason: 'lost' }),
    attemptFact({ id, attempt_state: 'lost' }),
  ]
  const options = { now: days(3), retentionDays: 2, retentions: keeping({ days: 10 }) }
  const keep = async (facts: readonly object[]) => {
    await recordFacts(db, lines(...facts))
    await keepRunsOfDay(db, DAY_OF_NOON, options)
    expect(await tableOf(db, id)).toEqual(KEPT)
    return await findRun(db, id)
  }
  expect(await keep(first)).toMatchObject({ run: { state: 'dead' } })
  const later = [
    runFact({ id, attempt: 2, state: 'cancelled', reason: 'cancelled' }),
    attemptFact({ id, attempt_state: 'failed', worker: 'w-1' }),
  ]
  const told = { run: { state: 'cancelled' }, attempts: [{ state: 'failed', worker: 'w-1' }] }
  expect(await keep(later)).toMatchObject(told)
  expect(await keep(first)).toMatchObject(told)
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

test('what comes into the default partition while others are moved is not deleted before its turn', async () => {
  const db = await setup()
  const [kept, other] = [runId(days(-20)), runId(days(-20))]
  await recordFacts(db, lines(runFact({ id: kept }), runFact({ id: other, job: 'other' })))
  const options = { now: days(3), retentionDays: 2, retentions: keeping({ days: 10 }) }
  await deleteOldFromDefault(db, days(1).getTime(), outliveAny(options))
  expect(await tableOf(db, kept)).toEqual(['jadwal.runs_default'])
  expect(await findRun(db, other)).toBeUndefined()
})
