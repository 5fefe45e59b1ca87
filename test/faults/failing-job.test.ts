import { expect, test } from 'vitest'
import { JOBS, setupSystem } from '../support/system.ts'

const CAP_MS = 1_000
/** How much later than it is due an attempt may be made on a busy machine. */
const BUSY_MS = 5_000

test('a job that always fails makes exactly its attempts, with growing and jittered waits, then one dead letter', async () => {
  const { producer, start, rows, executions, deadLetters, ended, database } = await setupSystem()
  await Promise.all([start('recorder').ready, start('worker').ready])
  const ids = await producer.enqueueMany(
    JOBS.fail,
    Array.from({ length: 20 }, () => ({})),
  )
  await ended(20, 60_000)

  expect((await rows()).map(({ state, reason, attempt }) => ({ state, reason, attempt }))).toEqual(
    Array.from({ length: 20 }, () => ({ state: 'dead', reason: 'failed', attempt: 5 })),
  )
  expect((await deadLetters()).toSorted()).toEqual(ids.toSorted())
  const attempts = await database.db
    .selectFrom('attempts')
    .select(['run_id', 'attempt', 'state'])
    .execute()
  expect(attempts).toHaveLength(100)
  expect(attempts.every(({ state }) => state === 'failed')).toBe(true)

  const firstWaits: number[] = []
  for (const id of ids) {
    const times = (await executions()).filter(({ runId }) => runId === id).map(({ atMs }) => atMs)
    expect(times).toHaveLength(5)
    const waits = times.slice(1).map((at, n) => at - (times[n] ?? 0))
    // Each less its jitter of at most a half.
    for (const [n, most] of [200, 400, 800, CAP_MS].entries()) {
      expect(waits[n]).toBeGreaterThanOrEqual(most / 2)
      expect(waits[n]).toBeLessThanOrEqual(most + BUSY_MS)
    }
    firstWaits.push(waits[0] ?? 0)
  }
  expect(new Set(firstWaits).size).toBeGreaterThan(5)
})
