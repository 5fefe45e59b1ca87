import { DAY, firstUuidAt, type RunState } from '@jadwal/domain'
import { createTestDatabase } from '@jadwal/testkit'
import { type RawBuilder, sql } from 'kysely'
import { inject, onTestFinished } from 'vitest'
import { type Db, ensurePartitions, openDatabase, type RunFilters } from '../src/index.ts'
import { NOON } from './facts.ts'

const DAY_START = Math.floor(NOON.getTime() / DAY) * DAY
/** Of the day whose indexes are looked at: more than a look reads of one leader, and of words. */
const RUNS_OF_DAY = 24_000
const RUNS_ELSEWHERE = 400

/** Where runs lie: in the day of noon, those about it, the default partition, and among the kept ones. */
const PLACES = [
  { table: 'runs', startMs: DAY_START, runs: RUNS_OF_DAY },
  { table: 'runs', startMs: DAY_START - DAY, runs: RUNS_ELSEWHERE },
  { table: 'runs', startMs: DAY_START + DAY, runs: RUNS_ELSEWHERE },
  { table: 'runs', startMs: DAY_START - 40 * DAY, runs: RUNS_ELSEWHERE },
  { table: 'runs', startMs: DAY_START + 40 * DAY, runs: RUNS_ELSEWHERE },
  { table: 'runs_kept', startMs: DAY_START - 90 * DAY, runs: RUNS_ELSEWHERE },
]
export const PARTITION = 'runs_20260901'
const SCHEDULE = '01900000-0000-7000-8000-00000000000'
const PARENT = '01900000-0000-7000-9000-00000000000'
const BACKFILL = '01900000-0000-7000-a000-00000000000'

export const parentOf = (n: number): string => `${PARENT}${n}`
export const backfillOf = (n: number): string => `${BACKFILL}${n}`

/** A database with many runs of whose columns each has few values, independent of those of the others. */
export async function setup(): Promise<{ db: Db }> {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  // One connection, so that what it counts of its own is there for it to read.
  const db = openDatabase({ url: database.url, schema: 'jadwal', max: 1 })
  onTestFinished(() => db.destroy())
  await ensurePartitions(db, { now: NOON, daysAhead: 1 })
  await sql`INSERT INTO jadwal.schedules (id, name, source, revision, created_at, changed_at)
    SELECT (${SCHEDULE} || n)::uuid, 'schedule-' || n, 'api', 1, now(), now()
    FROM generate_series(0, 9) AS n`.execute(db)
  for (const [at, { table, startMs, runs }] of PLACES.entries()) {
    const prefix = firstUuidAt(startMs + DAY / 2).slice(0, 13)
    await sql`
      INSERT INTO ${sql.table(table)} (id, revision, state, reason, job, queue, schedule_id, labels,
        enqueued_at, attempt, finished_at, error, backfill_id, late_at, parent_id, idempotency_key, search)
      SELECT (${prefix} || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 1, state,
        CASE WHEN state = 'skipped' THEN 'overlap' END,
        'job-' || floor(8 * lot[1] ^ 3), 'queue-' || floor(5 * lot[2] ^ 3),
        CASE WHEN lot[3] < 0.4 THEN (${SCHEDULE} || floor(10 * (lot[3] / 0.4) ^ 6))::uuid END,
        CASE WHEN lot[4] < 0.7 THEN jsonb_build_object('team', 'team-' || floor(10 * lot[4]),
          'env', CASE WHEN lot[5] < 0.9 THEN 'prod' ELSE 'staging' END) END,
        now(), 1, CASE WHEN state IN ('queued', 'running', 'retrying') THEN NULL ELSE now() END,
        CASE WHEN state IN ('dead', 'retrying') THEN jsonb_build_object(
          'name', 'Error' || floor(3 * lot[6] ^ 3),
          'message', CASE WHEN lot[7] < 0.02 THEN 'certificate expired' ELSE 'connection refused' END) END,
        CASE WHEN lot[8] < 0.05 THEN (${BACKFILL} || floor(100 * lot[8]))::uuid END,
        CASE WHEN lot[9] < 0.05 THEN now() END,
        CASE WHEN lot[10] < 0.05 THEN (${PARENT} || floor(100 * lot[10]))::uuid END,
        CASE WHEN lot[11] < 0.3 THEN 'key-' || floor(100 * lot[11]) END,
        CASE WHEN lot[12] < 0.7 THEN 'order ' || CASE WHEN lot[12] < 0.01 THEN 'medan' ELSE 'jakarta' END END
      FROM (
        SELECT n, lot, CASE WHEN lot[13] < 0.8 THEN 'succeeded'
          ELSE (ARRAY['dead', 'dead', 'cancelled', 'skipped', 'retrying', 'running', 'queued'])
            [1 + floor(35 * (lot[13] - 0.8))::int] END AS state
        FROM generate_series(1, ${runs}::int) AS n CROSS JOIN LATERAL (
          SELECT array_agg((hashint8extended(n::bigint * 100 + each, ${at}::bigint) & 1048575) / 1048576.0 ORDER BY each) AS lot
          FROM generate_series(1, 13) AS each) AS lots) AS made`.execute(db)
  }
  await sql`VACUUM (ANALYZE) ${sql.table(PARTITION)}`.execute(db)
  return { db }
}

export interface SearchCase {
  name: string
  filters: RunFilters
  /** The same in the plainest SQL. */
  plain: RawBuilder<unknown>
}

const state = (...states: RunState[]): SearchCase => ({
  name: `state ${states.join()}`,
  filters: { states },
  plain: sql`state IN (${sql.join(states)})`,
})
const word = (q: string): SearchCase => ({
  name: `q ${q}`,
  filters: { q },
  plain: sql`(coalesce(error ->> 'message', '') || ' ' || coalesce(search, '')) ~ ${`\\m${q}\\M`}`,
})

/** Of each filter, values that many runs have, that few have, and that none has. */
export const CASES: readonly SearchCase[] = [
  ...['job-0', 'job-7', 'job-none'].map((job) => ({
    name: `job ${job}`,
    filters: { job },
    plain: sql`job = ${job}`,
  })),
  ...['queue-0', 'queue-4', 'queue-none'].map((queue) => ({
    name: `queue ${queue}`,
    filters: { queue },
    plain: sql`queue = ${queue}`,
  })),
  state('succeeded'),
  state('dead', 'retrying', 'dead'),
  state('cancelled', 'succeeded'),
  {
    name: 'schedule',
    filters: { schedule: 'schedule-9' },
    plain: sql`schedule_id = ${`${SCHEDULE}9`}`,
  },
  { name: 'parent', filters: { parent: parentOf(2) }, plain: sql`parent_id = ${parentOf(2)}` },
  {
    name: 'backfill',
    filters: { backfill: backfillOf(1) },
    plain: sql`backfill_id = ${backfillOf(1)}`,
  },
  { name: 'error', filters: { error: 'Error1' }, plain: sql`error ->> 'name' = 'Error1'` },
  {
    name: 'idempotencyKey',
    filters: { idempotencyKey: 'key-9' },
    plain: sql`idempotency_key = 'key-9'`,
  },
  { name: 'late', filters: { late: true }, plain: sql`late_at IS NOT NULL` },
  ...[{ env: 'prod' }, { env: 'staging', team: 'team-6' }, { env: 'none' }].map((labels) => ({
    name: `labels ${Object.values(labels).join()}`,
    filters: { labels },
    plain: sql`labels @> ${JSON.stringify(labels)}::jsonb`,
  })),
  ...['order', 'refused', 'medan', 'nowhere'].map(word),
  {
    name: 'from and to',
    filters: { from: new Date(DAY_START - 45 * DAY), to: new Date(DAY_START + DAY) },
    plain: sql`id >= ${firstUuidAt(DAY_START - 45 * DAY)} AND id < ${firstUuidAt(DAY_START + DAY)}`,
  },
]
