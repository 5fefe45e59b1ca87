import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { checkRuns } from '../ledger/check-runs.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const RUNS = 5_000
const BYSTANDERS = 200
/** Longer than a busy machine lets an event loop wait: a worker that goes on loses nothing. */
const LOCK_MS = 5_000

test('workers killed and frozen under load of 5,000 runs: each run ends, with one row and one outcome', async () => {
  const system = await setupSystem({ env: { JADWAL_LOCK_MS: String(LOCK_MS) } })
  const { producer, start, rows, executions, deadLetters, ended, database } = system
  const workers = [start('worker'), start('worker'), start('worker')]
  await Promise.all([start('recorder').ready, ...workers.map((worker) => worker.ready)])
  const work = (count: number, ms: number) =>
    producer.enqueueMany(
      JOBS.work,
      Array.from({ length: count }, () => ({ ms })),
    )
  const ids = await work(RUNS, 20)

  // All of it within a life of a lock, so that no run can lose three attempts in a row.
  const until = performance.now() + 0.8 * LOCK_MS
  for (let kill = 0; performance.now() < until; kill += 1) {
    await delay(400)
    const at = kill % workers.length
    await workers[at]?.kill()
    workers[at] = start('worker')
  }
  const frozen = workers[0]
  frozen?.pause()
  await delay(2 * LOCK_MS)
  frozen?.resume()
  await ended(RUNS, 90_000)

  // The poison run takes down whoever serves it: somebody must go on starting workers.
  const supervisor = new AbortController()
  const keep = Promise.all(
    workers.map(async (first) => {
      let worker = first
      while (!supervisor.signal.aborted) {
        await Promise.race([worker.exitCode(), delay(100)])
        if (worker.child.exitCode !== null || worker.child.signalCode !== null)
          worker = start('worker')
      }
    }),
  )
  const poison = await producer.enqueue(JOBS.poison, {})
  ids.push(...(await work(BYSTANDERS, 200)))
  await ended(ids.length + 1, 90_000)
  supervisor.abort()
  await keep

  const report = checkRuns([...ids, poison], await rows())
  expect(report).toMatchObject({ missing: [], doubled: [], unexpected: [] })
  expect(report.states).toEqual({ succeeded: ids.length, dead: 1 })
  expect((await rows()).find(({ id }) => id === poison)).toMatchObject({
    state: 'dead',
    reason: 'lost',
  })
  expect(await deadLetters()).toEqual([poison])

  const executed = new Set((await executions()).map(({ runId }) => runId))
  expect(ids.filter((id) => !executed.has(id))).toEqual([])
  // Of all attempts of a run exactly one has succeeded, the others are lost.
  const attempts = await database.db.selectFrom('attempts').select(['run_id', 'state']).execute()
  const succeeded = attempts
    .filter(({ state }) => state === 'succeeded')
    .map(({ run_id }) => run_id)
  expect(new Set(succeeded).size).toBe(succeeded.length)
  expect(attempts.some(({ state }) => state === 'lost')).toBe(true)
}, 240_000)
