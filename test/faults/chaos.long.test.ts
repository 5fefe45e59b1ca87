import { setTimeout as delay } from 'node:timers/promises'
import { applySchedules, migrate } from '@jadwal/db'
import {
  asAdmin,
  databaseUrl,
  eventually,
  startTestPostgres,
  startTestRedis,
  TEMPLATE_DATABASE,
} from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { checkRuns } from '../ledger/check-runs.ts'
import { expectHistory } from '../support/expect-order.ts'
import { Kept } from '../support/kept.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const CHAOS_MS = Number(process.env['JADWAL_CHAOS_MS'] ?? 240_000)
const SCHEDULES = 100

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T
}

test('minutes of kills, freezes and outages: each tick has its row, each run its one end', async () => {
  const [redis, postgres] = [await startTestRedis(), await startTestPostgres()]
  onTestFinished(async () => {
    await redis[Symbol.asyncDispose]()
    await postgres[Symbol.asyncDispose]()
  })
  await asAdmin(postgres.url, `CREATE DATABASE ${TEMPLATE_DATABASE}`)
  const template = databaseUrl(postgres.url, TEMPLATE_DATABASE)
  await migrate({ url: template, schema: 'jadwal', now: new Date() })
  const system = await setupSystem({ redisUrl: redis.url, databaseUrl: postgres.url })
  const { start, database, producer } = system
  const schedulers = [new Kept(() => start('scheduler')), new Kept(() => start('scheduler'))]
  const workers = [new Kept(() => start('worker')), new Kept(() => start('worker'))]
  const recorders = [new Kept(() => start('recorder')), new Kept(() => start('recorder'))]
  const all = [...schedulers, ...workers, ...recorders]
  onTestFinished(() => all.forEach((kept) => kept.rest()))
  await Promise.all(all.map(({ service }) => service.ready))
  await applySchedules(database.db, {
    schedules: Array.from({ length: SCHEDULES }, (_, at) => ({
      name: `every-two-seconds-${at}`,
      input: { job: JOBS.work.name, every: '2s', overlap: 'allow', payload: { ms: at } },
    })),
    prune: false,
    source: 'file',
    author: 'test',
  })
  const faults: (() => Promise<void>)[] = [
    () => pick(all).service.kill(),
    () => pick(schedulers).service.kill(),
    () => pick(workers).service.kill(),
    async () => {
      const { service } = pick(all)
      service.pause()
      await delay(4_000)
      service.resume()
    },
    async () => {
      await postgres.stop()
      await delay(5_000)
      await postgres.start()
    },
    async () => {
      await redis.stop()
      await delay(2_000)
      await redis.start()
    },
    async () => {
      redis.pause()
      await delay(2_500)
      redis.resume()
    },
    async () => void (await system.redis.script('FLUSH')),
  ]
  const accepted: string[] = []
  const until = Date.now() + CHAOS_MS
  while (Date.now() < until) {
    await pick(faults)()
    await delay(500 + Math.random() * 2_000)
    const ids = await producer.enqueueMany(JOBS.work, [{ ms: 5 }, { ms: 500 }]).catch(() => [])
    accepted.push(...ids)
  }
  const quietMs = Math.floor(Date.now() / 2_000) * 2_000
  await eventually(
    async () => {
      const rows = await database.db
        .selectFrom('runs')
        .select(['id', 'schedule_id', 'tick_at', 'state', 'reason'])
        .execute()
      const due = rows.filter(({ tick_at }) => tick_at === null || tick_at.getTime() <= quietMs)
      expect(due.filter(({ state }) => state !== 'succeeded' && state !== 'dead')).toEqual([])
      const own = due.filter(({ schedule_id }) => schedule_id === null)
      expect(checkRuns(accepted, own).missing).toEqual([])
      // A run may lose three workers in a row here; nothing else ends one.
      expect(due.filter(({ state, reason }) => state === 'dead' && reason !== 'lost')).toEqual([])
    },
    { timeoutMs: 120_000, everyMs: 2_000 },
  )
  await expectHistory(database.db, { untilMs: quietMs })
  const executed = new Set((await system.executions()).map(({ runId }) => runId))
  const succeeded = await database.db
    .selectFrom('runs')
    .select('id')
    .where('state', '=', 'succeeded')
    .execute()
  expect(succeeded.filter(({ id }) => !executed.has(id))).toEqual([])
})
