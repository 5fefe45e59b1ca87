import { setTimeout as delay } from 'node:timers/promises'
import type { Producer } from '@jadwal/queue'
import { expect } from 'vitest'
import { checkRuns, NOTHING_WRONG } from '../ledger/check-runs.ts'
import { readRuns } from './read-runs.ts'
import { JOBS, setupSystem } from './system.ts'

/** Far longer than the test: whoever waited for a lock to expire would come too late. */
const LOCK_MS = 600_000
const GRACE_MS = 20_000
const EACH_MS = 50
/** What is left when the load ends; no run of it may take anything like a lock. */
const LEFTOVER_MS = 60_000
const SIGNALS = ['SIGUSR2', 'SIGTERM'] as const

/**
 * Three workers under load, each stopped and started again in turn, over and over, by either signal.
 * Nothing is lost, nothing is done twice, and nothing waits for a lock.
 */
export async function expectRestartsToHold(options: {
  perSecond: number
  /** For so long at least, and until each worker was started again so often. */
  forMs: number
  rounds: number
}): Promise<void> {
  const system = await setupSystem({
    env: { JADWAL_LOCK_MS: String(LOCK_MS), JADWAL_GRACE_MS: String(GRACE_MS) },
  })
  const { start, producer, ended, rows, executions, redis, prefix, database } = system
  const workers = [start('worker'), start('worker'), start('worker')]
  await Promise.all([start('recorder').ready, ...workers.map((worker) => worker.ready)])

  const exits: number[] = []
  const over = new AbortController()
  const restarting = (async () => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const at = turn % workers.length
      workers[at]?.child.kill(SIGNALS[turn % SIGNALS.length])
      exits.push((await workers[at]?.exitCode()) ?? -1)
      const next = start('worker')
      workers[at] = next
      await next.ready
    }
  })()
  const most = options.rounds * workers.length
  const ids = await enqueue(producer, options, () => exits.length >= most)
  over.abort()
  await restarting
  await ended(ids.length, LEFTOVER_MS)

  expect(exits.filter((code) => code !== 0)).toEqual([])
  const { rows: ledger, more } = await readRuns({ redis, prefix, database, queue: 'faults' })
  expect(checkRuns(ids, ledger, more)).toMatchObject({
    ...NOTHING_WRONG,
    states: { succeeded: ids.length },
  })
  const made = await executions()
  expect(made).toHaveLength(ids.length)
  expect(new Set(made.map(({ runId }) => runId)).size).toBe(ids.length)
  expect((await rows()).filter(({ attempt }) => attempt !== 1)).toEqual([])
}

/** Enqueues runs of 0 … 100 ms at a rate, as far as this machine keeps up with it. */
async function enqueue(
  producer: Producer,
  { perSecond, forMs }: { perSecond: number; forMs: number },
  isEnough: () => boolean,
): Promise<string[]> {
  const ids: string[] = []
  const fromMs = performance.now()
  for (let passedMs = 0; passedMs < forMs || !isEnough(); passedMs = performance.now() - fromMs) {
    const owed = Math.floor((passedMs * perSecond) / 1_000) - ids.length
    const payloads = Array.from({ length: owed }, (_, n) => ({ ms: (n * 7) % 100 }))
    if (owed > 0) ids.push(...(await producer.enqueueMany(JOBS.work, payloads)))
    await delay(EACH_MS)
  }
  return ids
}
