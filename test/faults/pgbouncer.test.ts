import { ensurePartitions } from '@jadwal/db'
import { DAY, systemClock } from '@jadwal/domain'
import { eventually, startTestPgBouncer } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const POOL_SIZE = 5
const RUNS = 300
const SICK = 20
const IN_TIME = { timeoutMs: 90_000, everyMs: 250 }

test('the whole works through PgBouncer in transaction mode, with five connections for all', async () => {
  const system = await setupSystem()
  const { database, prefix, producer, redis } = system
  const { db } = database
  const bouncer = await startTestPgBouncer(database.url, { poolSize: POOL_SIZE })
  onTestFinished(() => bouncer[Symbol.asyncDispose]())

  const now = systemClock.now().getTime()
  await ensurePartitions(db, { now: new Date(now - 40 * DAY), daysAhead: 0 })
  const tomorrow = partitionOf(now + DAY)
  await sql`DROP TABLE ${sql.table(tomorrow)}`.execute(db)
  const partitions = async (): Promise<Set<string>> => {
    const { rows } = await sql<{ name: string }>`SELECT relname AS name FROM pg_class
      WHERE relname ~ '^runs_[0-9]{8}$'`.execute(db)
    return new Set(rows.map(({ name }) => name))
  }

  const env = { DATABASE_URL: bouncer.url, JADWAL_DB_POOL: '3' }
  const services = (['scheduler', 'scheduler', 'recorder', 'recorder', 'api'] as const).map(
    (name) => system.start(name, env),
  )
  const api = services.at(-1)
  const worker = system.start('worker')
  await Promise.all([...services, worker].map(({ ready }) => ready))
  if (!api) throw new Error('no api')
  const ask = apiClient(api, 'test-admin-token')

  const schedule = { job: JOBS.quick.name, every: '1s', payload: { n: 0 } }
  const put = await Promise.all(
    Array.from({ length: 12 }, (_, n) => ask('PUT', `/schedules/often-${n}`, schedule)),
  )
  expect(put.map(({ status }) => status)).toEqual(put.map(() => 201))
  await producer.enqueueMany(
    JOBS.quick,
    Array.from({ length: RUNS }, (_, n) => ({ n })),
  )
  const sick = await producer.enqueueMany(
    JOBS.sick,
    Array.from({ length: SICK }, (_, n) => ({ n })),
  )
  const count = async (filter: object): Promise<number> => {
    const rows = await db.selectFrom('runs').select(['job', 'state', 'redrive_of']).execute()
    return rows.filter((row) =>
      Object.entries(filter).every(([key, value]) => Reflect.get(row, key) === value),
    ).length
  }
  await eventually(async () => {
    const [done, dead] = [
      await count({ job: JOBS.quick.name, state: 'succeeded' }),
      await count({ job: JOBS.sick.name, state: 'dead' }),
    ]
    expect(done).toBeGreaterThanOrEqual(RUNS + 12)
    expect(dead).toBe(SICK)
  }, IN_TIME)

  const found = await ask('GET', `/runs?q=${sick[0]}`)
  expect(found.body['items']).toMatchObject([{ id: sick[0], state: 'dead' }])
  await redis.set(`${prefix}:cured`, 'yes')
  const redrive = await ask('POST', '/dead-letters/redrive', { filter: { job: JOBS.sick.name } })
  expect(redrive.status).toBe(202)
  const from = new Date(now - 120_000).toISOString()
  const to = new Date(now - 60_000).toISOString()
  const backfill = await ask('POST', '/schedules/often-0/backfill', { from, to })
  expect(backfill.status).toBe(202)
  await eventually(async () => {
    const { body } = await ask('GET', `/backfills/${String(backfill.body['id'])}`)
    expect(body).toMatchObject({ state: 'done' })
    expect(await count({ job: JOBS.sick.name, state: 'succeeded' })).toBe(SICK)
  }, IN_TIME)

  await eventually(async () => {
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count
      FROM ${sql.table('run_stats')}`.execute(db)
    expect(rows[0]?.count).toBeGreaterThan(0)
    const { body } = await ask('GET', `/stats?job=${JOBS.sick.name}`)
    expect(body['totals']).toMatchObject({ succeeded: SICK, dead: SICK })
    const names = await partitions()
    expect(names).toContain(tomorrow)
    expect(names).not.toContain(partitionOf(now - 40 * DAY))
  }, IN_TIME)
  expect(await bouncer.servers()).toBeLessThanOrEqual(POOL_SIZE)
}, 300_000)

/** The table of the runs of a day. */
function partitionOf(atMs: number): string {
  return `runs_${new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '')}`
}
