import { expect, test } from 'vitest'
import { JOBS, setupSystem } from '../support/system.ts'

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
    // 200, 400, 800, 1000 (the cap), each less its jitter of at most a half.
    for (const [n, least] of [100, 200, 400, 500].entries())
      expect(waits[n]).toBeGreaterThanOrEqual(least)
    firstWaits.push(waits[0] ?? 0)
  }
  expect(new Set(firstWaits).size).toBeGreaterThan(5)
})
