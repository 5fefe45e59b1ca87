import { randomUUID } from 'node:crypto'
import { DAY, newOrderedId } from '@jadwal/domain'
import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, test } from 'vitest'
import { deleteOldAudit, listAudit, recordFacts } from '../src/index.ts'

const NOON = Date.parse('2026-11-30T12:00:00Z')

const setup = () => createTestDatabase(inject('postgresUrl'))

function entry(over: Record<string, unknown> = {}, atMs = NOON, id = newId(atMs)): string {
  const audit = {
    at: new Date(atMs).toISOString(),
    actor: 'ana',
    role: 'operator',
    came_by: 'token',
    action: 'schedules.pause',
    subject: 'schedules/nightly',
    request: { reason: 'maintenance' },
    ...over,
  }
  return JSON.stringify({ kind: 'audit', id, audit })
}
const newId = (atMs: number): string =>
  newOrderedId(atMs, Buffer.from(randomUUID().replaceAll('-', ''), 'hex'))
const ended = { status: 200, ended_at: '2026-11-30T12:00:01Z', after: { paused: true } }

test('an entry has what came of its act, in whatever order and however often it is told', async () => {
  await using database = await setup()
  const { db } = database
  const id = newId(NOON)
  const [begun, over] = [entry({}, NOON, id), entry(ended, NOON, id)]
  expect(await recordFacts(db, [begun])).toMatchObject({ audits: 1, runs: 0 })
  expect((await listAudit(db, {}, {})).items).toMatchObject([{ id, status: null, after: null }])
  expect(await recordFacts(db, [over, begun])).toMatchObject({ audits: 1 })
  expect(await recordFacts(db, [begun, over, begun])).toMatchObject({ audits: 0 })
  const { items } = await listAudit(db, {}, {})
  expect(items).toMatchObject([
    { id, actor: 'ana', request: { reason: 'maintenance' }, status: 200, after: { paused: true } },
  ])
})

test('entries are listed newest first, by who, what, of what and when, across pages', async () => {
  await using database = await setup()
  const { db } = database
  await recordFacts(db, [
    entry({ actor: 'ben' }, NOON - 2_000),
    entry({ action: 'runs.cancel', subject: 'runs/1' }, NOON - 1_000),
    entry({ actor: 'ben', subject: 'schedules/weekly' }, NOON),
  ])
  const atMs = async (filters: Parameters<typeof listAudit>[1]) =>
    (await listAudit(db, filters, {})).items.map(({ at }) => at.getTime() - NOON)
  expect(await atMs({})).toEqual([0, -1_000, -2_000])
  expect(await atMs({ actor: 'ben' })).toEqual([0, -2_000])
  expect(await atMs({ action: 'runs.cancel' })).toEqual([-1_000])
  expect(await atMs({ subject: 'schedules/nightly' })).toEqual([-2_000])
  expect(await atMs({ from: new Date(NOON - 1_000), to: new Date(NOON) })).toEqual([-1_000])

  const first = await listAudit(db, {}, { limit: 2 })
  await recordFacts(db, [entry({}, NOON + 5_000)])
  const second = await listAudit(db, {}, { limit: 2, cursor: first.nextCursor ?? '' })
  expect([...first.items, ...second.items].map(({ at }) => at.getTime() - NOON)).toEqual([
    0, -1_000, -2_000,
  ])
  expect(second.nextCursor).toBeNull()
})

test('entries go when they are older than they are to be kept', async () => {
  await using database = await setup()
  const { db } = database
  await recordFacts(db, [entry({}, NOON - 3 * DAY), entry({}, NOON - DAY)])
  await deleteOldAudit(db, { now: new Date(NOON), days: 2 })
  expect((await listAudit(db, {}, {})).items.map(({ at }) => at.getTime())).toEqual([NOON - DAY])
})
