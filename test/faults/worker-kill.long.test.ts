import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { checkRuns, NOTHING_WRONG } from '../ledger/check-runs.ts'
import { readRuns } from '../support/read-runs.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const RUNS = 10_000
const BATCH = 500
const FOR_MS = 120_000
/** Short enough that a run seldom meets three dead workers in a row. */
const LOCK_MS = 2_000
/** The most that the job's backoff allows, its rescue after a lost lock, and what a busy machine takes. */
const WAIT_MS = 1_000
const SLACK_MS = 30_000

test('10,000 runs, half of them failing once, with workers killed at random for two minutes: each ends, with one row and one outcome', async () => {
  const { producer, start, ended, executions, redis, prefix, database } = await setupSystem({
    env: { JADWAL_LOCK_MS: String(LOCK_MS) },
  })
  const workers = [start('worker'), start('worker'), start('worker')]
  await Promise.all([start('recorder').ready, ...workers.map((worker) => worker.ready)])
  const killing = (async () => {
    const until = performance.now() + FOR_MS
    while (performance.now() < until) {
      await delay(1_000 + Math.random() * 4_000)
      const at = Math.floor(Math.random() * workers.length)
      await workers[at]?.kill()
      workers[at] = start('worker')
    }
  })()
  const ids: string[] = []
  for (let batch = 0; batch < RUNS / BATCH; batch += 1) {
    const payloads = Array.from({ length: BATCH }, (_, n) => ({ ms: n % 50, fails: n % 2 === 0 }))
    ids.push(...(await producer.enqueueMany(JOBS.shaky, payloads)))
    await delay(FOR_MS / (RUNS / BATCH))
  }
  await killing
  await ended(RUNS, 120_000)

  const { rows, more } = await readRuns({ redis, prefix, database, queue: 'faults' })
  const report = checkRuns(ids, rows, more)
  expect(report).toMatchObject({ ...NOTHING_WRONG, accepted: RUNS, waiting: 0 })
  const { succeeded = 0, dead = 0 } = report.states
  expect(succeeded + dead).toBe(RUNS)
  // A run is dead only when three workers in a row were killed with it in hand.
  expect(rows.filter(({ state, reason }) => state === 'dead' && reason !== 'lost')).toEqual([])
  expect(dead).toBeLessThan(RUNS / 100)
  expect(more.attempts.some(({ state }) => state === 'lost')).toBe(true)
  expect(longestWaitMs(await executions())).toBeLessThan(WAIT_MS + 3 * LOCK_MS + SLACK_MS)
})

/** Between two attempts of one run. */
function longestWaitMs(executions: readonly { runId: string; atMs: number }[]): number {
  const last = new Map<string, number>()
  let longest = 0
  for (const { runId, atMs } of executions.toSorted((a, b) => a.atMs - b.atMs)) {
    const before = last.get(runId)
    if (before !== undefined) longest = Math.max(longest, atMs - before)
    last.set(runId, atMs)
  }
  return longest
}
