import { randomBytes } from 'node:crypto'
import { ensurePartitions, findRun, recordFacts } from '@jadwal/db'
import {
  DAY,
  DEFAULT_BACKOFF,
  type JobDescription,
  newRunId,
  revision,
  type Retention,
  type RunFact,
  systemClock,
} from '@jadwal/domain'
import { publishCatalogue, RedisClock, redisReady } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { Catalogue } from '../src/catalogue.ts'
import { keepPartitions } from '../src/keep-partitions.ts'
import { Thinning } from '../src/thinning.ts'
import { setupSchedulers } from './setup-scheduler.ts'

const RETENTION_DAYS = 4

function jobOf(name: string, retention?: Retention): JobDescription {
  return {
    name,
    queue: 'mails',
    attempts: 1,
    backoff: DEFAULT_BACKOFF,
    timeoutMs: 1_000,
    payloadSchema: {},
    ...(retention ? { retention } : {}),
  }
}

async function setup() {
  const schedulers = await setupSchedulers({ JADWAL_RETENTION_DAYS: String(RETENTION_DAYS) })
  const { db, redis, prefix } = schedulers
  await redisReady(redis, 10_000)
  const nowMs = systemClock.now().getTime()
  await ensurePartitions(db, { now: new Date(nowMs - 8 * DAY), daysAhead: 8 })
  /** A run that succeeded so many days ago. */
  const ran = async (job: string, daysAgo: number): Promise<string> => {
    const at = nowMs - daysAgo * DAY
    const id = newRunId(at, randomBytes(10))
    const fact: RunFact = {
      kind: 'run',
      id,
      revision: revision(1, 'succeeded'),
      state: 'succeeded',
      job,
      queue: 'mails',
      payload: {},
      enqueued_at: new Date(at).toISOString(),
      finished_at: new Date(at).toISOString(),
      attempt: 1,
      result: null,
    }
    await recordFacts(db, [JSON.stringify(fact)])
    return id
  }
  const isThere = async (id: string): Promise<boolean> => (await findRun(db, id)) !== undefined
  const publish = (...jobs: JobDescription[]) => publishCatalogue(redis, prefix, jobs)
  const catalogue = new Catalogue()
  const deps = async ({ aheadMs = 0, trusted = (): boolean => true } = {}) => {
    await catalogue.refresh(redis, prefix)
    const redisClock = new RedisClock(redis, systemClock)
    await redisClock.measure()
    const nowOf = redisClock.nowMs.bind(redisClock)
    redisClock.nowMs = () => nowOf() + aheadMs
    const log = createLogger('scheduler', 'silent', 'test')
    const reign = { term: 1, trusted }
    return { db, redisClock, log, catalogue, retentionDays: RETENTION_DAYS, reign }
  }
  return { ...schedulers, ran, isThere, publish, deps }
}

test('a leader keeps the runs of each job as long as its workers publish', async () => {
  const { ran, isThere, publish, start } = await setup()
  await publish(jobOf('short', { days: 1 }), jobOf('long', { days: 60 }), jobOf('plain'))
  const gone = await Promise.all([ran('short', 3), ran('plain', 7)])
  const stay = await Promise.all([ran('short', 0), ran('plain', 3), ran('long', 3), ran('long', 7)])
  await start('scheduler-1')
  await eventually(
    async () => expect(await Promise.all(gone.map(isThere))).toEqual([false, false]),
    { timeoutMs: 30_000 },
  )
  expect(await Promise.all(stay.map(isThere))).toEqual([true, true, true, true])
})

test('runs are thinned once a day, and again when a job says something else', async () => {
  const { ran, isThere, publish, deps } = await setup()
  await publish(jobOf('short', { days: 2 }))
  const thinning = new Thinning(await deps())
  await thinning.round()
  // It has been done for today.
  const id = await ran('short', 3)
  expect(await thinning.round()).toBeGreaterThan(0)
  expect(await isThere(id)).toBe(true)
  await publish(jobOf('short', { days: 1 }))
  await deps()
  await thinning.round()
  expect(await isThere(id)).toBe(false)
})

test('a leader that is none any more stops thinning, and has not done with the day', async () => {
  const { ran, isThere, publish, deps } = await setup()
  await publish(jobOf('a-short', { days: 1 }), jobOf('b-short', { days: 1 }))
  const id = await ran('b-short', 3)
  let leads = false
  const thinning = new Thinning(await deps({ trusted: () => leads }))
  await thinning.round()
  expect(await isThere(id)).toBe(true)
  leads = true
  await thinning.round()
  expect(await isThere(id)).toBe(false)
})

test('a clock of Redis that runs ahead deletes nothing', async () => {
  const { ran, isThere, publish, deps } = await setup()
  await publish(jobOf('short', { days: 2 }), jobOf('long', { days: 60 }))
  const ids = await Promise.all([ran('short', 1), ran('plain', 3), ran('long', 3)])
  const ahead = await deps({ aheadMs: 1_000 * DAY })
  await new Thinning(ahead).round()
  await keepPartitions(ahead)
  expect(await Promise.all(ids.map(isThere))).toEqual([true, true, true])
})
