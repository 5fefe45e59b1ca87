import { randomUUID } from 'node:crypto'
import type { RunFact } from '@jadwal/domain'
import { createTestDatabase } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { ensurePartitions, type LateTick, markLateTicks, recordFacts } from '../src/index.ts'
import { selectLate } from '../src/mark-late-ticks.ts'
import { after, lines, NOON, runFact, runId } from './facts.ts'

/** Ticks of this schedule are to succeed 10 s after noon. */
const SCHEDULE = { schedule_id: randomUUID(), schedule: 'nightly', tick_at: NOON.toISOString() }
const DUE = after(10)

const refuse = () => Promise.reject(new Error('Redis is away'))

async function setup() {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { db } = database
  const record = async (fact: Partial<RunFact>): Promise<string> => {
    const whole = runFact({ ...SCHEDULE, late_due_at: DUE, ...fact })
    await recordFacts(db, lines(whole))
    return whole.id
  }
  const announced: LateTick[] = []
  const mark = async (before: string, limit = 100): Promise<string[]> => {
    const at = new Date(before)
    const late = await markLateTicks(db, { before: at, now: at, limit }, async (ticks) => {
      announced.push(...ticks)
    })
    return late.map((tick) => tick.id)
  }
  const lateness = (id: string) =>
    db
      .selectFrom('runs')
      .select(['late_due_at', 'late_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  return { db, record, mark, announced, lateness }
}

test.each([
  ['queued', { state: 'queued', attempt: 0 }],
  ['running', { state: 'running' }],
  ['retrying', { state: 'retrying' }],
  ['dead since before it was late', { state: 'dead', reason: 'failed', finished_at: after(5) }],
  ['succeeded too late', { state: 'succeeded', finished_at: after(11) }],
  ['cancelled too late', { state: 'cancelled', reason: 'cancelled', finished_at: after(11) }],
] satisfies [string, Partial<RunFact>][])(
  'a tick whose run is %s is late, once',
  async (_what, fact) => {
    const { record, mark, announced, lateness } = await setup()
    const id = await record(fact)
    expect(await mark(after(10))).toEqual([])
    expect(await mark(after(12))).toEqual([id])
    expect(await mark(after(20))).toEqual([])
    expect(announced).toMatchObject([
      { id, schedule: 'nightly', state: fact.state, tick_at: NOON, late_due_at: new Date(DUE) },
    ])
    expect(await lateness(id)).toEqual({ late_due_at: new Date(DUE), late_at: new Date(after(12)) })
  },
)

test.each([
  ['succeeded in time', { state: 'succeeded', finished_at: DUE }],
  ['cancelled in time', { state: 'cancelled', reason: 'superseded', finished_at: after(9) }],
  ['never to be', { state: 'skipped', reason: 'overlap', attempt: 0, finished_at: after(60) }],
] satisfies [string, Partial<RunFact>][])(
  'a tick whose run %s is never late',
  async (_what, fact) => {
    const { record, mark, lateness } = await setup()
    const id = runId()
    await record({ id, state: 'queued', attempt: 0 })
    await record({ id, ...fact })
    expect(await mark(after(3_600))).toEqual([])
    expect(await lateness(id)).toEqual({ late_due_at: null, late_at: null })
  },
)

test('that a tick was late stays, whatever is recorded of its run afterwards', async () => {
  const { record, mark, lateness } = await setup()
  const id = await record({ state: 'running' })
  await mark(after(12))
  await record({ id, state: 'succeeded', finished_at: after(13) })
  expect((await lateness(id)).late_at).toEqual(new Date(after(12)))
  expect(await mark(after(20))).toEqual([])
})

test('runs that nobody watches are never late', async () => {
  const { record, mark } = await setup()
  await record({ state: 'dead', reason: 'failed', late_due_at: null })
  expect(await mark(after(3_600))).toEqual([])
})

test('those due first come first, a bounded number at a time', async () => {
  const { record, mark } = await setup()
  const third = await record({ state: 'running', late_due_at: after(30) })
  const first = await record({ state: 'running', late_due_at: after(10) })
  const second = await record({ state: 'running', late_due_at: after(20) })
  expect(await mark(after(60), 2)).toEqual([first, second])
  expect(await mark(after(60), 2)).toEqual([third])
})

test('a tick that could not be announced is not marked', async () => {
  const { db, record, mark } = await setup()
  const id = await record({ state: 'running' })
  const at = new Date(after(12))
  await expect(markLateTicks(db, { before: at, now: at, limit: 10 }, refuse)).rejects.toThrow(
    'Redis is away',
  )
  expect(await mark(after(12))).toEqual([id])
})

test('of two that look at once only one finds a tick', async () => {
  const { db, record, mark } = await setup()
  const id = await record({ state: 'running' })
  const at = new Date(after(12))
  let other: string[] = ['nobody looked']
  const late = await markLateTicks(db, { before: at, now: at, limit: 10 }, async () => {
    other = await mark(after(12))
  })
  expect(late.map((tick) => tick.id)).toEqual([id])
  expect(other).toEqual([])
})

test('looks into the index of watched runs of each partition, and at no other run', async () => {
  const { db, record } = await setup()
  await ensurePartitions(db, { now: NOON, daysAhead: 1 })
  const plain = Array.from({ length: 3_000 }, () => runFact({ id: runId() }))
  await recordFacts(db, lines(...plain))
  await record({ state: 'running' })
  await sql`ANALYZE ${sql.table('runs')}`.execute(db)
  const { sql: text, parameters } = selectLate(db, new Date(after(12)), 500).compile()
  const inlined = parameters.reduce<string>(
    (query, value, at) =>
      query.replace(
        `$${at + 1}`,
        value instanceof Date ? `'${value.toISOString()}'` : String(value),
      ),
    text,
  )
  const { rows } = await sql<{ 'QUERY PLAN': string }>`EXPLAIN ${sql.raw(inlined)}`.execute(db)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).not.toContain('Seq Scan on runs_20260901')
  expect(plan).toMatch(/Index Scan using runs_20260901_late_due_at_idx/)
})
