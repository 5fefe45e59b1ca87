import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { JOBS, setupSystem } from '../support/system.ts'

test('SIGTERM during an attempt of 3 s lets it finish', async () => {
  const { producer, start, rows, executions, ended } = await setupSystem()
  const worker = start('worker')
  await Promise.all([start('recorder').ready, worker.ready])
  await producer.enqueue(JOBS.work, { ms: 3_000 })
  await eventually(async () => expect(await executions()).toHaveLength(1))
  expect(await worker.stop()).toBe(0)
  await ended(1, 10_000)
  expect(await rows()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
})

test('with a grace of 1 s the attempt is aborted, and another worker does the run again at once', async () => {
  const { producer, start, rows, executions, ended, database } = await setupSystem({
    env: { JADWAL_LOCK_MS: '60000' },
  })
  const first = start('worker', { JADWAL_GRACE_MS: '1000' })
  await Promise.all([start('recorder').ready, first.ready])
  // Longer than the second worker takes to start.
  const id = await producer.enqueue(JOBS.work, { ms: 12_000 })
  await eventually(async () => expect(await executions()).toHaveLength(1))
  await start('worker').ready
  const stoppedAtMs = Date.now()
  expect(await first.stop()).toBe(0)
  await ended(1, 60_000)
  expect(await rows()).toMatchObject([{ state: 'succeeded', attempt: 2 }])
  const [, second] = await executions()
  // Not only after the lock of the first has expired.
  expect((second?.atMs ?? 0) - stoppedAtMs).toBeLessThan(30_000)
  const attempts = await database.db
    .selectFrom('attempts')
    .select(['run_id', 'attempt', 'state'])
    .orderBy('attempt')
    .execute()
  expect(attempts[0]).toEqual({ run_id: id, attempt: 1, state: 'drained' })
})

test('a second SIGTERM hurries', async () => {
  const { producer, start, executions } = await setupSystem()
  const worker = start('worker')
  await worker.ready
  await producer.enqueue(JOBS.work, { ms: 25_000 })
  await eventually(async () => expect(await executions()).toHaveLength(1))
  const stoppedAtMs = Date.now()
  const end = worker.stop()
  await worker.waitForLog('draining')
  worker.child.kill('SIGTERM')
  expect(await end).toBe(0)
  expect(Date.now() - stoppedAtMs).toBeLessThan(10_000)
})
