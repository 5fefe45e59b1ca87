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
/** The most that the job's backoff allows, and what a busy machine takes. */
const WAIT_MS = 1_000
const SLACK_MS = 15_000
/** So many lost attempts at most lie between two that were noted, each until its lock has expired. */
const RESCUES = 2

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
      const next = start('worker')
      workers[at] = next
      // Two others live meanwhile, so that what is measured is no want of workers.
      await next.ready
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
  const { queuedMs, betweenMs } = longestWaits(await executions())
  // Whoever is due again queues like one that is new.
  const most = WAIT_MS + queuedMs + RESCUES * (2 * LOCK_MS + queuedMs)
  expect(betweenMs).toBeLessThan(most + SLACK_MS)
})

/** The longest wait of any run for its first attempt, and between two. */
function longestWaits(executions: readonly { runId: string; atMs: number }[]) {
  const last = new Map<string, number>()
  let queuedMs = 0
  let betweenMs = 0
  for (const { runId, atMs } of executions.toSorted((a, b) => a.atMs - b.atMs)) {
    const before = last.get(runId)
    if (before === undefined) queuedMs = Math.max(queuedMs, atMs - enqueuedAtMs(runId))
    else betweenMs = Math.max(betweenMs, atMs - before)
    last.set(runId, atMs)
  }
  return { queuedMs, betweenMs }
}

/** Ids are UUIDv7: they begin with when they were made. */
function enqueuedAtMs(runId: string): number {
  return Number.parseInt(runId.replaceAll('-', '').slice(0, 12), 16)
}
