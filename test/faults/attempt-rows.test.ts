import { setTimeout as delay } from 'node:timers/promises'
import type { RunId } from '@jadwal/domain'
import { cancelRun } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { JOBS, setupSystem } from '../support/system.ts'

/** At a time: as many as three workers have in hand, and some that wait. */
const RUNS = 40
/** Of each run, how long it works: long enough for the history to be told that it runs. */
const WORK_MS = [1_500, 2_000, 3_000] as const
/** Those that are cancelled meanwhile: every so many-th. */
const CANCEL_EACH = 10
/** Longer than a busy machine lets an event loop wait: a worker that goes on loses nothing. */
const LOCK_MS = 5_000

test('whatever becomes of workers, no attempt of a run that has ended is running in the history', async () => {
  const system = await setupSystem({ env: { JADWAL_LOCK_MS: String(LOCK_MS) } })
  const { producer, start, ended, database, redis, prefix } = system
  const workers = [start('worker'), start('worker'), start('worker')]
  await Promise.all([start('recorder').ready, ...workers.map((worker) => worker.ready)])
  const ids: RunId[] = []
  /** Resolves once runs were told, so that there is something to leave behind. */
  const beAtWork = async (): Promise<void> => {
    const payloads = Array.from({ length: RUNS }, (_, at) => ({ ms: WORK_MS[at % WORK_MS.length] }))
    ids.push(...(await producer.enqueueMany(JOBS.work, payloads)))
    await eventually(async () => expect(await running()).not.toHaveLength(0))
  }
  const fates = [
    (at: number) => workers[at]?.child.kill('SIGKILL'),
    (at: number) => workers[at]?.child.kill('SIGTERM'),
    (at: number) => workers[at]?.child.kill('SIGUSR2'),
  ]
  for (const [at, fate] of fates.entries()) {
    await beAtWork()
    fate(at)
    workers[at] = start('worker')
    await workers[at]?.ready
  }
  await beAtWork()
  const cancelled = ids.filter((_, at) => at % CANCEL_EACH === 0)
  const { queue } = JOBS.work
  const nowIso = new Date(Date.now()).toISOString()
  await Promise.all(
    cancelled.map((id) => cancelRun({ redis, prefix, nowIso }, { queue, id }, 'cancelled')),
  )
  const frozen = workers[1]
  frozen?.pause()
  await delay(2 * LOCK_MS)
  frozen?.resume()
  await ended(ids.length, 90_000)
  const states = await database.db.selectFrom('attempts').select('state').execute()
  expect(states.map(({ state }) => state)).toContain('lost')
  // A worker that was frozen may have its last word after the end of its runs.
  await eventually(async () => expect(await underEnded()).toEqual([]))
  await delay(2_000)
  expect(await underEnded()).toEqual([])

  async function running() {
    return await database.db
      .selectFrom('attempts')
      .innerJoin('runs', 'runs.id', 'attempts.run_id')
      .select(['run_id', 'attempts.attempt', 'runs.state', 'runs.attempt as last'])
      .where('attempts.state', '=', 'running')
      .execute()
  }

  async function underEnded() {
    const unfinished = new Set(['queued', 'running', 'retrying'])
    return (await running()).filter(({ state }) => !unfinished.has(state))
  }
}, 240_000)
