import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { applySchedules, loadSchedules, readScheduleRevision } from '../src/index.ts'

const RULE = { job: 'report.generate', every: '1h' }

async function setup(schedules: { name: string; input: Record<string, unknown> }[]) {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const changes = { prune: false, source: 'file', author: 'schedules.yaml' } as const
  await applySchedules(database.db, { ...changes, schedules })
  return database.db
}

test('however many schedules there are, each is loaded once, with a payload of its own', async () => {
  const names = Array.from({ length: 12_001 }, (_, at) => `report-${at}`)
  const db = await setup(names.map((name) => ({ name, input: { ...RULE, payload: { name } } })))
  const { schedules, revision } = await loadSchedules(db)
  const payloads = schedules.map(({ name, versions: [version] }) => [name, version?.spec.payload])
  expect(payloads).toHaveLength(names.length)
  expect(new Map(payloads as [string, unknown][])).toEqual(
    new Map(names.map((name) => [name, { name }])),
  )
  expect((await loadSchedules(db, revision)).schedules).toEqual([])
  expect(await readScheduleRevision(db)).toBe(revision)
})

test('a stored payload that is wrong is a problem of its version alone', async () => {
  const db = await setup([
    { name: 'none', input: RULE },
    { name: 'right', input: { ...RULE, payload: { kind: 'daily' } } },
    { name: 'wrong', input: { ...RULE, payload: null } },
  ])
  const { schedules, problems } = await loadSchedules(db)
  const loaded = schedules.flatMap(({ name, versions }) =>
    versions.map(({ spec }) => [name, spec.payload]),
  )
  expect(Object.fromEntries(loaded)).toEqual({ none: {}, right: { kind: 'daily' } })
  expect(problems).toEqual([
    { schedule: 'wrong', version: 1, problem: expect.stringMatching(/^payload: /) as string },
  ])
})
