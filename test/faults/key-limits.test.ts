import { setTimeout as delay } from 'node:timers/promises'
import { cancelRun, keys } from '@jadwal/queue'
import { eventually, startTestRedis } from '@jadwal/testkit'
import type { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { type KeySpan, mostAtOnce } from '../ledger/check-key-limits.ts'
import { checkRuns } from '../ledger/check-runs.ts'
import { bundle } from '../support/bundle-jobs.ts'
import { readKeySpans } from '../support/read-key-spans.ts'
import { setupSystem, type SystemOptions } from '../support/system.ts'

const KEYED = { name: 'fault.keyed', queue: 'keys' } as const
const LIMIT = 2
/** Longer than a busy machine lets an event loop wait: a worker that goes on loses no slot. */
const LOCK_MS = 5_000

async function setupKeys(options: SystemOptions = {}) {
  const env = {
    JADWAL_JOBS: await bundle('support/key-jobs.ts'),
    JADWAL_QUEUES: 'keys:20',
    JADWAL_LOCK_MS: String(LOCK_MS),
  }
  const system = await setupSystem({ ...options, env })
  const { producer, redis, prefix } = system
  return {
    ...system,
    add: (key: string, count: number, ms: number) =>
      producer.enqueueMany(
        KEYED,
        Array.from({ length: count }, () => ({ key, ms })),
      ),
    parked: (key: string) => redis.llen(keys.parkedKey(prefix, 'keys', `key:fault.keyed:=${key}`)),
    spans: (endedAtMs?: ReadonlyMap<number, number>) => readKeySpans({ redis, prefix }, endedAtMs),
    leftOvers: () => lotsLeft(redis, prefix),
  }
}

/** Whatever is left of lots and slots. */
async function lotsLeft(redis: Redis, prefix: string): Promise<string[]> {
  const all = await redis.keys(`{${prefix}:keys}:*`)
  return all.filter((key) => /:(parked:.*|slots:.*|lots)$/.test(key))
}

function ofKey(spans: readonly KeySpan[], key: string): KeySpan[] {
  return spans.filter((span) => span.key === key)
}

test('at most two runs of a key run at once over three workers, one of which is killed and one frozen, and all end', async () => {
  const { add, start, ended, rows, spans, parked, leftOvers, redis, prefix } = await setupKeys()
  const workers = [start('worker'), start('worker'), start('worker')]
  await Promise.all([start('recorder').ready, ...workers.map((worker) => worker.ready)])
  const ids = await add('busy', 300, 50)
  for (const key of ['a', 'b', 'c']) ids.push(...(await add(key, 20, 300)))
  await eventually(async () => expect(await parked('busy')).toBeGreaterThan(150))
  // A newcomer is not kept waiting by what others have.
  const late = await add('late', 6, 300)
  ids.push(...late)
  const [cancelled = ''] = await redis.lrange(
    keys.parkedKey(prefix, 'keys', 'key:fault.keyed:=busy'),
    -1,
    -1,
  )
  const deps = { redis, prefix, nowIso: new Date(Date.now()).toISOString() }
  expect(await cancelRun(deps, { queue: 'keys', id: cancelled }, 'cancelled')).toMatchObject({
    result: 'cancelled',
  })
  await eventually(async () => expect(ofKey(await spans(), 'late')).toHaveLength(6))
  const doneBefore = ofKey(await spans(), 'busy').length

  const endedAtMs = new Map<number, number>()
  const [killed, frozen] = workers
  await killed?.kill()
  endedAtMs.set(killed?.pid ?? 0, Date.now())
  await redis.script('FLUSH')
  frozen?.pause()
  endedAtMs.set(frozen?.pid ?? 0, Date.now())
  await delay(2 * LOCK_MS)
  frozen?.resume()
  start('worker')
  await ended(ids.length, 120_000)

  const report = checkRuns(ids, await rows())
  expect(report).toMatchObject({ missing: [], doubled: [], unexpected: [] })
  expect(report.states).toEqual({ succeeded: ids.length - 1, cancelled: 1 })
  expect((await rows()).find((row) => row.id === cancelled)).toMatchObject({ state: 'cancelled' })
  expect(doneBefore).toBeLessThan(250)
  const most = mostAtOnce(await spans(endedAtMs))
  expect(Object.keys(most).toSorted()).toEqual(['a', 'b', 'busy', 'c', 'late'])
  for (const [key, count] of Object.entries(most)) expect([key, count]).toEqual([key, LIMIT])
  await eventually(async () => expect(await leftOvers()).toEqual([]))
  // Parked runs use up no attempt: only runs that were in hand in the killed and the frozen worker have a second one.
  expect((await rows()).filter((row) => row.attempt > 1).length).toBeLessThanOrEqual(40)
})

test('parked runs outlive a restart of Redis and the loss of all workers', async () => {
  const server = await startTestRedis()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { add, start, ended, rows, spans, parked, leftOvers, redis, prefix } = await setupKeys({
    redisUrl: server.url,
  })
  const [first] = [start('worker'), start('recorder')]
  await first?.ready
  const ids = await add('one', 60, 300)
  await eventually(async () => expect(await parked('one')).toBeGreaterThan(20))
  await first?.kill()
  const killedAtMs = Date.now()
  await server.kill()
  await server.start()
  await eventually(async () => expect(await parked('one')).toBeGreaterThan(0))
  start('worker')
  await ended(ids.length, 90_000)
  const report = checkRuns(ids, await rows())
  expect(report).toMatchObject({ missing: [], doubled: [], states: { succeeded: ids.length } })
  const endedAtMs = new Map([[first?.pid ?? 0, killedAtMs]])
  expect(mostAtOnce(await spans(endedAtMs))['one']).toBe(LIMIT)
  await eventually(async () => expect(await leftOvers()).toEqual([]))
  expect(await redis.zcard(keys.bullKey(prefix, 'keys', 'delayed'))).toBe(0)
})
