import { keys } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { checkRuns } from '../ledger/check-runs.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const RUNS = 2_000
/** A recorder claims what another has had pending for 30 s, and looks each 10 s. */
const CLAIMED_WITHIN_MS = 60_000

type System = Awaited<ReturnType<typeof setupSystem>>

test('a recorder killed and one frozen with facts in hand: each run has one row, nothing stays pending', async () => {
  const system = await setupSystem()
  const { redis, prefix, producer, start, ended, rows } = system
  const [killed, frozen] = [start('recorder'), start('recorder')]
  await Promise.all([killed.ready, frozen.ready, start('worker').ready])
  const enqueue = (count: number) =>
    producer.enqueueMany(
      JOBS.quick,
      Array.from({ length: count }, (_, n) => ({ n })),
    )

  const release = await lockRuns(system)
  const ids = await enqueue(RUNS)
  await eventually(async () => {
    ids.push(...(await enqueue(1)))
    expect(Object.keys(await pending(system))).toHaveLength(2)
  })
  frozen.pause()
  await killed.kill()
  await release()
  const next = start('recorder')
  await next.ready
  ids.push(...(await enqueue(100)))
  await ended(ids.length, CLAIMED_WITHIN_MS)
  await eventually(async () => expect(await pending(system)).toEqual({}), {
    timeoutMs: CLAIMED_WITHIN_MS,
  })

  frozen.resume()
  ids.push(...(await enqueue(100)))
  await ended(ids.length, 20_000)
  await eventually(async () => {
    expect(await redis.xlen(keys.outboxKey(prefix, 'faults'))).toBe(0)
    expect(await pending(system)).toEqual({})
  })
  expect(checkRuns(ids, await rows())).toMatchObject({
    missing: [],
    doubled: [],
    unexpected: [],
    states: { succeeded: ids.length },
  })
  expect(frozen.child.exitCode).toBeNull()
  expect(await redis.xlen(keys.outboxRejectedKey(prefix, 'faults'))).toBe(0)
})

/** How many entries each recorder has read and not acknowledged. */
async function pending({ redis, prefix }: System): Promise<Record<string, number>> {
  const [, , , consumers] = (await redis.xpending(
    keys.outboxKey(prefix, 'faults'),
    'recorder',
  )) as [number, string | null, string | null, [name: string, count: string][] | null]
  return Object.fromEntries((consumers ?? []).map(([name, count]) => [name, Number(count)]))
}

/** Keeps everybody from the history until it is released: recorders then wait with facts in hand. */
async function lockRuns({ database }: System): Promise<() => Promise<void>> {
  const holder = await database.db.startTransaction().execute()
  await sql`LOCK TABLE jadwal.runs IN ACCESS EXCLUSIVE MODE`.execute(holder)
  const release = async (): Promise<void> => {
    if (!holder.isCommitted && !holder.isRolledBack) await holder.rollback().execute()
  }
  onTestFinished(release)
  return release
}
