import { applySchedules } from '@jadwal/db'
import { eventually } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { setupSchedulers } from './setup-scheduler.ts'

const POOL = 3
const IN_TIME = { timeoutMs: 20_000 }

test('schedules are read while the upkeep holds each connection that it may have', async () => {
  const { db, start } = await setupSchedulers({ JADWAL_DB_POOL: String(POOL) })
  const scheduler = await start('a')
  const count = async (): Promise<string | undefined> =>
    /^jadwal_schedules (\d+)$/m.exec(await scheduler.metrics())?.[1]
  expect(await count()).toBe('0')

  const holder = await db.startTransaction().execute()
  onTestFinished(() => holder.rollback().execute())
  await sql`LOCK TABLE jadwal.runs, jadwal.run_stats_deltas, jadwal.audit_log, jadwal.redrives,
    jadwal.backfills, jadwal.job_retentions`.execute(holder)
  const stuck = async (): Promise<number> => {
    const { rows } = await sql<{ count: number }>`SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'jadwal-scheduler'
        AND wait_event_type = 'Lock'`.execute(db)
    return rows[0]?.count ?? 0
  }
  await eventually(async () => expect(await stuck()).toBeGreaterThanOrEqual(POOL - 1), IN_TIME)
  const input = { job: 'email.send', every: '1h' }
  await applySchedules(db, {
    schedules: [{ name: 'hourly', input }],
    prune: false,
    source: 'api',
    author: 'ana',
  })
  await eventually(async () => expect(await count()).toBe('1'), IN_TIME)
  await eventually(async () => expect(await stuck()).toBe(POOL - 1), IN_TIME)
})
