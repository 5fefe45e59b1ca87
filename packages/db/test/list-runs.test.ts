import { randomUUID } from 'node:crypto'
import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import {
  applySchedules,
  BadCursorError,
  findSchedule,
  listRuns,
  listUnfinishedRuns,
  recordFacts,
  type RunFilters,
} from '../src/index.ts'
import { after, lines, NOON, runFact, runId } from './facts.ts'

const at = (seconds: number): string => runId(new Date(after(seconds)))

async function setup() {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { db } = database
  const schedules = [{ name: 'nightly', input: { job: 'shell.exec', cron: '0 1 * * *' } }]
  await applySchedules(db, { schedules, prune: false, source: 'file', author: 'test' })
  const schedule = await findSchedule(db, 'nightly')
  const ids = { plain: at(0), dead: at(1), queued: at(2), nightly: at(3) }
  await recordFacts(
    db,
    lines(
      runFact({ id: ids.plain, labels: { team: 'billing', region: 'id' } }),
      runFact({
        id: ids.dead,
        job: 'http.request',
        state: 'dead',
        reason: 'failed',
        error: { name: 'Error', message: 'connect ECONNREFUSED 10.0.0.1' },
        attempt_state: 'failed',
      }),
      runFact({
        id: ids.queued,
        queue: 'reports',
        state: 'queued',
        attempt: 0,
        parent_id: ids.dead,
      }),
      runFact({ id: ids.nightly, schedule_id: schedule?.id ?? null, schedule: 'nightly' }),
    ),
  )
  const find = async (filters: RunFilters): Promise<string[]> =>
    (await listRuns(db, filters, {})).items.map(({ run }) => run.id)
  return { db, ids, find }
}

test('each filter finds its runs, newest first', async () => {
  const { ids, find } = await setup()
  const { plain, dead, queued, nightly } = ids
  expect(await find({})).toEqual([nightly, queued, dead, plain])
  expect(await find({ job: 'http.request' })).toEqual([dead])
  expect(await find({ queue: 'reports' })).toEqual([queued])
  expect(await find({ states: ['dead'] })).toEqual([dead])
  expect(await find({ states: ['succeeded'], job: 'email.send' })).toEqual([nightly, plain])
  expect(await find({ schedule: 'nightly' })).toEqual([nightly])
  expect(await find({ schedule: 'never-heard-of' })).toEqual([])
  expect(await find({ parent: dead })).toEqual([queued])
  expect(await find({ parent: queued })).toEqual([])
  expect(await find({ labels: { team: 'billing' } })).toEqual([plain])
  expect(await find({ labels: { team: 'billing', region: 'sg' } })).toEqual([])
  expect(await find({ from: new Date(after(1)), to: new Date(after(3)) })).toEqual([queued, dead])
  expect(await find({ q: 'econnrefused connect' })).toEqual([dead])
  expect(await find({ q: 'connect timeout' })).toEqual([])
  expect(await find({ q: 'http.request' })).toEqual([dead])
  expect(await find({ q: plain.toUpperCase() })).toEqual([plain])
  expect(await find({ q: randomUUID() })).toEqual([])
})

test('pages through all runs without a gap, each with its attempts', async () => {
  const { db, ids } = await setup()
  const first = await listRuns(db, {}, { limit: 3 })
  expect(first.items.map(({ run, attempts }) => [run.id, attempts.length])).toEqual([
    [ids.nightly, 0],
    [ids.queued, 0],
    [ids.dead, 1],
  ])
  const cursor = first.nextCursor ?? ''
  const second = await listRuns(db, {}, { limit: 3, cursor })
  expect(second.items.map(({ run }) => run.id)).toEqual([ids.plain])
  expect(second.nextCursor).toBeNull()
  await expect(listRuns(db, {}, { cursor: 'nonsense' })).rejects.toThrow(BadCursorError)
})

test('finds runs that have not ended', async () => {
  const { db, ids } = await setup()
  const before = new Date(after(60))
  const found = await listUnfinishedRuns(db, before, { limit: 10 })
  expect(found.map(({ id }) => id)).toEqual([ids.queued])
  expect(await listUnfinishedRuns(db, before, { limit: 10, afterId: ids.queued })).toEqual([])
  expect(await listUnfinishedRuns(db, NOON, { limit: 10 })).toEqual([])
})
