import { applySchedules } from '@jadwal/db'
import { eventually } from '@jadwal/testkit'
import { keys } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { JOBS, setupSystem } from '../support/system.ts'

const BYSTANDERS = 50

test('a schedule whose run kills its workers gets its dead letter and goes on, and no run beside it is lost', async () => {
  const system = await setupSystem({ env: { JADWAL_LOCK_MS: '3000' } })
  const { database, producer, start, rows, deadLetters, redis, prefix } = system
  const { db } = database
  await Promise.all([start('recorder').ready, start('worker').ready])
  // So seldom that the runs beside the first have ended by the time of the next one.
  await applySchedules(db, {
    schedules: [
      {
        name: 'poison',
        input: { job: JOBS.poison.name, every: '15s', overlap: 'skip', payload: {} },
      },
    ],
    prune: false,
    source: 'file',
    author: 'test',
  })
  const ids = await producer.enqueueMany(
    JOBS.work,
    Array.from({ length: BYSTANDERS }, () => ({ ms: 300 })),
  )
  await start('scheduler').ready

  // The run takes down whoever serves it: somebody must go on starting workers.
  const supervisor = new AbortController()
  const keep = (async () => {
    while (!supervisor.signal.aborted) {
      await Promise.race([start('worker').exitCode(), aborted(supervisor.signal)])
    }
  })()
  const ofSchedule = () =>
    db.selectFrom('runs').selectAll().where('schedule', '=', 'poison').orderBy('tick_at').execute()
  const settled = await eventually(
    async () => {
      const runs = (await ofSchedule()).filter(({ state }) => state !== 'skipped')
      const dead = runs.find(({ state }) => state === 'dead')
      // Overlap is `skip`: another one is fired only once the first is no longer unfinished.
      const next = runs.find(({ id }) => id !== dead?.id)
      if (!dead || !next) throw new Error(`no dead run and a next one among ${runs.length}`)
      return { dead, next }
    },
    { timeoutMs: 150_000, everyMs: 250 },
  )
  const { dead, next } = settled
  expect(dead).toMatchObject({ reason: 'lost', schedule: 'poison' })
  expect(dead.attempt).toBeGreaterThan(3)
  expect(next.tick_at?.getTime()).toBeGreaterThan(dead.tick_at?.getTime() ?? Infinity)
  expect(await deadLetters()).toContain(dead.id)
  const unfinished = keys.unfinishedKey(prefix, 'faults', dead.schedule_id ?? '')
  expect(await redis.sismember(unfinished, dead.id)).toBe(0)
  const lost = await db
    .selectFrom('attempts')
    .select(['attempt', 'state'])
    .where('run_id', '=', dead.id)
    .orderBy('attempt')
    .execute()
  expect(lost.filter(({ state }) => state === 'lost').length).toBeGreaterThanOrEqual(3)
  await eventually(
    async () => {
      const own = new Set<string>(ids)
      const states = (await rows()).filter(({ id }) => own.has(id)).map(({ state }) => state)
      expect(states).toEqual(ids.map(() => 'succeeded'))
    },
    { timeoutMs: 60_000, everyMs: 250 },
  )
  supervisor.abort()
  await keep
}, 240_000)

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
