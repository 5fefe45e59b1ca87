import { createTestDatabase } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { findFailureRates, foldRunStats, recordFacts } from '../src/index.ts'
import { after, lines, NOON, runFact } from './facts.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const at = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1_000)
const endedAt = (seconds: number) =>
  runFact({ state: 'dead', reason: 'failed', started_at: after(0), finished_at: after(seconds) })

test('of a long time whole hours are read as such, and each run counts once', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  // Before, at the edges, within whole hours, in the last started hour, and after.
  const ends = [5, 20, 90, 150, 179, 185, 200].map((minutes) => minutes * MINUTE)
  await recordFacts(db, lines(...ends.map(endedAt)))
  const count = async (from: number, to: number) => {
    const time = { from: at(from), to: at(to) }
    const query = { ...time, minRuns: 1, rate: 0.5, matchers: {}, exceptQueue: 'alerts' }
    return (await findFailureRates(db, query))[0]?.dead
  }
  const counts = async () => [
    await count(20 * MINUTE, 3 * HOUR + 10 * MINUTE),
    await count(10 * MINUTE, 50 * MINUTE),
    await count(HOUR, 3 * HOUR),
  ]
  expect(await counts()).toEqual([5, 1, 3])
  await foldRunStats(db)
  expect(await counts()).toEqual([5, 1, 3])
  await sql`DELETE FROM ${sql.table('run_stats')}
    WHERE step = 'minute' AND at >= ${at(HOUR)} AND at < ${at(3 * HOUR)}`.execute(db)
  expect(await counts()).toEqual([5, 1, 3])
})
