import { expect } from 'vitest'
import { checkRuns, NOTHING_WRONG } from '../ledger/check-runs.ts'
import { readRuns } from './read-runs.ts'
import { JOBS, setupSystem } from './system.ts'

/**
 * A handler that keeps its worker from renewing the lock: another worker makes the run meanwhile, and
 * what the first one has to say in the end counts for nothing.
 */
export async function expectLockToBeLost({ lockMs, blockMs }: { lockMs: number; blockMs: number }) {
  const { start, producer, ended, executions, database, redis, prefix } = await setupSystem({
    env: { JADWAL_LOCK_MS: String(lockMs) },
  })
  const recorder = start('recorder')
  const blocked = start('worker')
  await Promise.all([recorder.ready, blocked.ready])
  const id = await producer.enqueue(JOBS.block, { ms: blockMs })
  await start('worker').ready
  await ended(1, blockMs + 2 * lockMs + 30_000)
  await blocked.waitForLog('its outcome does not count', blockMs + 30_000)

  const { rows, more } = await readRuns({ redis, prefix, database, queue: 'faults' })
  expect(checkRuns([id], rows, more)).toMatchObject({
    ...NOTHING_WRONG,
    states: { succeeded: 1 },
  })
  const row = await database.db
    .selectFrom('runs')
    .select(['attempt', 'result'])
    .executeTakeFirstOrThrow()
  expect(row).toEqual({ attempt: 2, result: { attempt: 2 } })
  const attempts = await database.db
    .selectFrom('attempts')
    .select(['attempt', 'state'])
    .orderBy('attempt')
    .execute()
  expect(attempts).toEqual([
    { attempt: 1, state: 'lost' },
    { attempt: 2, state: 'succeeded' },
  ])
  expect((await executions()).map(({ attempt }) => attempt)).toEqual([1, 2])
  expect(blocked.child.exitCode).toBeNull()
}
