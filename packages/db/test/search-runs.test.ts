import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type Db, listRuns, type RunFilters } from '../src/index.ts'
import { NOON } from './facts.ts'
import { backfillOf, CASES, parentOf, PARTITION, type SearchCase, setup } from './search-setup.ts'

const LIMIT = 20

test('every filter, and every two and many three together, find what plain SQL finds, on each page', async () => {
  const { db } = await setup()
  const idsOf = new Map<SearchCase, ReadonlySet<string>>()
  for (const each of CASES) idsOf.set(each, new Set(await plainIds(db, each)))
  const wrong: string[] = []
  for (const cases of combinations()) {
    const [first = new Set<string>(), ...others] = cases.map((each) => idsOf.get(each))
    const expected = [...first]
      .filter((id) => others.every((ids) => ids?.has(id)))
      .slice(0, 2 * LIMIT)
    const found = await twoPages(db, Object.assign({}, ...cases.map(({ filters }) => filters)))
    if (found.join() !== expected.join())
      wrong.push(`${cases.map(({ name }) => name).join(', ')}: ${found.join()}`)
  }
  expect(wrong).toEqual([])
})

test('every filter, and what users ask for together, is served by the index that is for it', async () => {
  const { db } = await setup()
  const wrong: string[] = []
  for (const [index, filters] of SERVED) {
    const before = await scansOf(db)
    await listRuns(db, { ...filters, to: END_OF_DAY }, { limit: 200 })
    const after = await scansOf(db)
    const used = [...after]
      .filter(([name, scans]) => scans !== before.get(name))
      .map(([name]) => name)
    if (!used.some((name) => index.includes(name)) || used.includes(WHOLE_TABLE))
      wrong.push(`${JSON.stringify(filters)}: ${used.join()}`)
  }
  expect(wrong).toEqual([])
})

const JOB = 'runs_job_queue_state_idx'
const QUEUE = 'runs_queue_state_idx'
const SCHEDULE = 'runs_schedule_filters_idx'
const WORDS = 'runs_words_filters_idx'
const SERVED: readonly (readonly [index: string, filters: RunFilters])[] = [
  [JOB, { job: 'job-3' }],
  [JOB, { job: 'job-3', states: ['dead'] }],
  [JOB, { job: 'job-3', queue: 'queue-none' }],
  [JOB, { job: 'job-3', labels: { env: 'staging' } }],
  [QUEUE, { queue: 'queue-2' }],
  [QUEUE, { queue: 'queue-2', states: ['dead'] }],
  ['runs_state_idx', { states: ['dead'] }],
  [SCHEDULE, { schedule: 'schedule-9' }],
  [SCHEDULE, { schedule: 'schedule-9', states: ['succeeded'] }],
  ['runs_parent_idx', { parent: parentOf(2) }],
  ['runs_of_backfill_idx or runs_backfill_idx', { backfill: backfillOf(1) }],
  ['runs_error_idx', { error: 'Error1' }],
  ['runs_idempotency_key_idx', { idempotencyKey: 'key-9' }],
  ['runs_late_filters_idx', { late: true }],
  ['runs_late_filters_idx', { late: true, job: 'job-7' }],
  ['runs_labels_idx', { labels: { env: 'none' } }],
  ['runs_pkey', { from: NOON }],
  [WORDS, { q: 'certificate' }],
  [WORDS, { q: 'medan', job: 'job-7' }],
  [WORDS, { q: 'refused', states: ['succeeded'] }],
  [WORDS, { q: 'medan', labels: { env: 'staging' } }],
  [WORDS, { error: 'Error0', job: 'job-none' }],
]

/** Newer days have runs enough for a page. */
const END_OF_DAY = new Date('2026-09-02T00:00:00Z')
const WHOLE_TABLE = 'the whole table'

/** How often each index of the day has been scanned by this connection and all others. */
async function scansOf(db: Db): Promise<Map<string, number>> {
  await sql`SELECT pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<{ name: string; scans: number }>`
    SELECT parent.relname AS name, s.idx_scan AS scans
    FROM pg_stat_user_indexes s JOIN pg_inherits i ON i.inhrelid = s.indexrelid
    JOIN pg_class parent ON parent.oid = i.inhparent WHERE s.relname = ${PARTITION}
    UNION ALL SELECT ${WHOLE_TABLE}, seq_scan FROM pg_stat_user_tables WHERE relname = ${PARTITION}`.execute(
    db,
  )
  return new Map(rows.map(({ name, scans }) => [name, scans]))
}

async function twoPages(db: Db, filters: RunFilters): Promise<string[]> {
  const { items, nextCursor } = await listRuns(db, filters, { limit: LIMIT })
  if (nextCursor !== null)
    items.push(...(await listRuns(db, filters, { limit: LIMIT, cursor: nextCursor })).items)
  return items.map(({ run }) => run.id)
}

/** Newest first. */
async function plainIds(db: Db, { plain }: SearchCase): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM ${sql.table('runs_all')} WHERE ${plain} ORDER BY id DESC`.execute(db)
  return rows.map(({ id }) => id)
}

/** Values of one filter do not go together. */
function combinations(): SearchCase[][] {
  const all: SearchCase[][] = CASES.map((each) => [each])
  for (const [a, first] of CASES.entries()) {
    for (const [b, second] of CASES.entries()) {
      if (b <= a || shareFilter(first, second)) continue
      all.push([first, second])
      const third = CASES[(a * 7 + b * 5) % CASES.length]
      if ((a + b) % 3 === 0 && third && !shareFilter(first, third) && !shareFilter(second, third))
        all.push([first, second, third])
    }
  }
  return all
}

function shareFilter(a: SearchCase, b: SearchCase): boolean {
  return Object.keys(a.filters).some((key) => key in b.filters)
}
