import type { LogLine } from '@jadwal/domain'
import { createTestDatabase, type TestDatabase } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { findRun, recordFacts, runView } from '../src/index.ts'
import { after, lines, runFact, runId } from './facts.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresUrl'))
})
afterAll(() => database[Symbol.asyncDispose]())

async function view(id: string) {
  const found = await findRun(database.db, id)
  return found && runView(found.run, found.attempts)
}

function said(message: string): LogLine[] {
  return [{ at: after(0.1), level: 'warn', message }]
}

test('what an attempt logged is kept with it, also of a quick first one and of one that goes on', async () => {
  const quick = runId()
  const retried = runId(new Date(after(1)))
  const times = { started_at: after(0), attempt_finished_at: after(0.2) }
  const facts = lines(
    runFact({ id: quick, ...times, attempt_state: 'succeeded', log: said('quick') }),
    runFact({
      id: retried,
      ...times,
      state: 'retrying',
      attempt_state: 'failed',
      log: said('first try'),
    }),
    runFact({ id: retried, ...times, attempt: 2, state: 'running', attempt_state: 'running' }),
    runFact({
      id: retried,
      ...times,
      attempt: 2,
      state: 'queued',
      reason: 'drained',
      attempt_state: 'drained',
      log: said('second try'),
    }),
  )
  await recordFacts(database.db, facts.toReversed())
  expect(await view(quick)).toMatchObject({ attempts: [{ attempt: 1, log: said('quick') }] })
  expect(await view(retried)).toMatchObject({
    attempts: [
      { state: 'failed', log: said('first try') },
      { state: 'drained', log: said('second try') },
    ],
  })
})
