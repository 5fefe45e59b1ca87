import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { recordFacts, runStats } from '../src/index.ts'
import { after, lines, NOON, runFact, runId } from './facts.ts'

test('a payload that names an attempt does not change what a run waited', async () => {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const run = { id: runId(), payload: { attempt: 1 } }
  const started = { state: 'retrying', attempt_state: 'failed', started_at: after(1) } as const
  await recordFacts(database.db, lines(runFact({ ...run, ...started })))
  const end = { attempt: 2, started_at: after(50), finished_at: after(51) }
  await recordFacts(database.db, lines(runFact({ ...run, ...end })))
  const hour = { from: NOON, to: new Date(NOON.getTime() + 3_600_000) }
  const { wait } = (await runStats(database.db, hour)).totals
  expect(wait.count).toBe(1)
  expect(Math.abs((wait.p50Ms ?? 0) / 1_000 - 1)).toBeLessThan(0.05)
})
