import { randomUUID } from 'node:crypto'
import { DAY, type LetterFact, redriveRunId, type RunFact } from '@jadwal/domain'
import { createTestDatabase, type TestDatabase } from '@jadwal/testkit'
import { beforeEach, expect, inject, onTestFinished, test } from 'vitest'
import {
  beginCanaryStep,
  changeRedriveState,
  countDeadLetters,
  countRedriven,
  dropPartitions,
  ensurePartitions,
  findReturned,
  findRun,
  insertRedrive,
  listDeadLetters,
  listRedrives,
  listUnsettledLetters,
  recordFacts,
  refusedFact,
  rowMessage,
  runView,
  stopRedrive,
} from '../src/index.ts'
import { after, lines, NOON, runFact, runId } from './facts.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
})

/** A run that died so many seconds after noon. */
function dead(seconds: number, fact: Partial<RunFact> = {}): RunFact {
  return runFact({
    state: 'dead',
    reason: 'failed',
    finished_at: after(seconds),
    error: { name: 'Error', message: `no answer from ${seconds}` },
    fingerprint: 'aaaaaaaaaaaaaaaa',
    ...fact,
  })
}

function letter(id: string, about: Partial<LetterFact['letter']> = {}): LetterFact {
  return { kind: 'letter', id, letter: { at: after(60), by: 'ana', ...about } }
}

const redriven = (id: string, by?: string): LetterFact =>
  letter(id, { redrivenAs: redriveRunId(id), ...(by === undefined ? {} : { redrive: by }) })

const days = (count: number): Date => new Date(NOON.getTime() + count * DAY)
const inOrder = (...runs: (RunFact | undefined)[]): string[] =>
  runs.map((run) => run?.id ?? '').toSorted((one, other) => (one < other ? -1 : 1))
const record = (...facts: readonly object[]) => recordFacts(database.db, lines(...facts))
const view = async (id: string) => {
  const found = await findRun(database.db, id)
  return found && runView(found.run, found.attempts, found.settled)
}

test('what was decided about a dead letter is recorded once, before or after its run, and the first decision holds', async () => {
  const run = dead(1)
  expect(await record(redriven(run.id))).toEqual({
    runs: 0,
    attempts: 0,
    terms: 0,
    letters: 1,
    audits: 0,
  })
  expect(await record(run)).toMatchObject({ runs: 1, letters: 0 })
  const late = letter(run.id, { at: after(90), reason: 'too late' })
  expect(await record(redriven(run.id), late)).toMatchObject({ letters: 0 })
  expect(await view(run.id)).toMatchObject({ redrivenAs: redriveRunId(run.id) })
  expect(await view(run.id)).not.toHaveProperty('discarded')

  const other = dead(2)
  await record(other, letter(other.id, { reason: 'a test order' }))
  expect(await view(other.id)).toMatchObject({
    discarded: { at: after(60), by: 'ana', reason: 'a test order' },
  })
})

test.each([
  ['of a kind that is not known', { kind: 'novel', id: randomUUID() }],
  ['of a letter without a decision', letter(randomUUID())],
  ['of a letter with two', letter(randomUUID(), { redrivenAs: randomUUID(), reason: 'x' })],
])('a fact %s is refused, so that it is put aside and not lost', async (_what, fact) => {
  const error = await record(fact).catch((thrown: unknown) => thrown)
  expect(refusedFact(error)).toBe(true)
})

async function at(settled: 'yes' | 'no' | 'any', cursor?: string) {
  const page = { limit: 2, ...(cursor === undefined ? {} : { cursor }) }
  const { items, nextCursor } = await listDeadLetters(database.db, { settled }, page)
  return { ids: items.map(({ run }) => run.id), nextCursor: nextCursor ?? undefined }
}

test('dead letters are listed latest death first, page by page, settled ones when asked for', async () => {
  const runs = [dead(1), dead(3), dead(2), dead(3)]
  await record(...runs, runFact(), redriven(runs[2]?.id ?? ''))
  const latest = inOrder(runs[1], runs[3]).toReversed()
  const first = await at('no')
  expect(first.ids).toEqual(latest)
  expect((await at('no', first.nextCursor)).ids).toEqual([runs[0]?.id])
  expect((await at('yes')).ids).toEqual([runs[2]?.id])
  const all = await at('any')
  expect((await at('any', all.nextCursor)).ids).toEqual([runs[2]?.id, runs[0]?.id])
})

test('dead letters are found by queue, job, fingerprint and when they died', async () => {
  const other = { queue: 'reports', job: 'report', fingerprint: 'bbbbbbbbbbbbbbbb' }
  const runs = [dead(1), dead(2, other), dead(3)]
  await record(...runs)
  const ids = async (filters: object) =>
    (await listUnsettledLetters(database.db, filters, { limit: 10 })).map(({ id }) => id)
  const [first, second, third] = runs.map(({ id }) => id)
  expect(await ids({})).toEqual([first, second, third])
  for (const field of ['queue', 'job', 'fingerprint'] as const)
    expect(await ids({ [field]: other[field] })).toEqual([second])
  expect(await ids({ from: new Date(after(2)), to: new Date(after(3)) })).toEqual([second])
  const [position] = await listUnsettledLetters(database.db, {}, { limit: 1 })
  const rest = await listUnsettledLetters(
    database.db,
    {},
    { limit: 10, after: { finished_at: new Date(after(1)), id: position?.id ?? '' } },
  )
  expect(rest.map(({ id }) => id)).toEqual([second, third])
  expect(await countDeadLetters(database.db, { job: 'report' }, 1)).toBe(1)
  expect(await countDeadLetters(database.db, {}, 2)).toBeUndefined()
})

test('the message of a row is the one that its run had', () => {
  const schedule = { id: randomUUID(), name: 'hourly', tickAt: after(0), term: 3 }
  const row = {
    payload: { a: 1 },
    search: null,
    labels: { team: 'x' },
    schedule_id: schedule.id,
    schedule: 'hourly',
    tick_at: new Date(after(0)),
    term: 3,
    backfill_id: null,
    redrive_of: null,
    parent_id: null,
    idempotency_key: null,
  }
  expect(rowMessage(row)).toEqual({ v: 1, payload: { a: 1 }, labels: { team: 'x' }, schedule })
  const plain = { ...row, labels: null, schedule_id: null, schedule: null }
  expect(rowMessage(plain)).toEqual({ v: 1, payload: { a: 1 } })
})

async function redrive(): Promise<string> {
  const id = randomUUID()
  await insertRedrive(database.db, {
    id,
    state: 'running',
    filter: JSON.stringify({}),
    rate: null,
    canary: true,
    letters: 2,
    author: 'ana',
    created_at: NOON,
  })
  return id
}

test('a run of a redrive that dies of the same cause is found, one that dies of another is not', async () => {
  const id = await redrive()
  const runs = [dead(1), dead(2), dead(3, { fingerprint: null })]
  const again = (run: RunFact | undefined, fingerprint: string): RunFact =>
    dead(100, { id: redriveRunId(run?.id ?? ''), redrive_of: run?.id, fingerprint })
  await record(...runs, ...runs.map((run) => redriven(run.id, id)))
  const returned = () => findReturned(database.db, { id, created_at: NOON })
  await record(again(runs[0], 'cccccccccccccccc'))
  expect(await returned()).toBeUndefined()
  const progress = (most: number) => countRedriven(database.db, id, most)
  expect(await progress(3)).toEqual({ redriven: 3, runs: { dead: 1, queued: 2 } })
  expect(await progress(2)).toEqual({ redriven: 3, runs: null })
  await record(again(runs[1], 'aaaaaaaaaaaaaaaa'))
  expect(await returned()).toEqual({
    run: redriveRunId(runs[1]?.id ?? ''),
    fingerprint: 'aaaaaaaaaaaaaaaa',
  })
})

test('a step of a canary is begun by one leader, and by none after the end', async () => {
  const id = await redrive()
  const [one, other] = [runId(), runId()]
  const begun = await Promise.all(
    [one, other].map((each) => beginCanaryStep(database.db, id, { step: 1, letters: [each] })),
  )
  expect(begun.filter(Boolean)).toHaveLength(1)
  const cause = { run: one, fingerprint: null, at: NOON }
  expect(await stopRedrive(database.db, id, cause)).toBe(true)
  expect(await stopRedrive(database.db, id, cause)).toBe(false)
  expect(await beginCanaryStep(database.db, id, { step: 2, letters: [one] })).toBe(false)
  const change = { from: ['running' as const], to: 'done' as const, at: NOON }
  expect(await changeRedriveState(database.db, id, change)).toBe(false)
})

test('decisions and redrives go with their day, and a run made by a redrive lives on as long as one that ended then', async () => {
  const { db } = database
  await ensurePartitions(db, { now: NOON, daysAhead: 0 })
  const run = dead(1)
  const again = runFact({
    id: redriveRunId(run.id),
    redrive_of: run.id,
    finished_at: new Date(NOON.getTime() + 29 * DAY).toISOString(),
  })
  await record(run, redriven(run.id), again)
  const [ended, going] = [await redrive(), await redrive()]
  await changeRedriveState(db, ended, { from: ['running'], to: 'done', at: days(1) })
  const left = () => db.selectFrom('settled_letters').selectAll().execute()
  await dropPartitions(db, { now: days(30), retentionDays: 30 })
  expect(await left()).toHaveLength(1)
  await dropPartitions(db, { now: days(32), retentionDays: 30 })
  expect(await left()).toEqual([])
  expect((await listRedrives(db, {})).items).toMatchObject([{ id: going }])
  expect(await view(run.id)).toBeUndefined()
  expect(await view(again.id)).toMatchObject({ state: 'succeeded', redriveOf: run.id })
  await dropPartitions(db, { now: days(61), retentionDays: 30 })
  expect(await view(again.id)).toBeUndefined()
})
