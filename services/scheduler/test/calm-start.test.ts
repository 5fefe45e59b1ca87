import { dropPartitions } from '@jadwal/db'
import { DAY } from '@jadwal/domain'
import { createTestDatabase, spawnService } from '@jadwal/testkit'
import { expect, inject, test } from 'vitest'

test(
  'a scheduler that starts, leads and stops has nothing to warn of',
  { timeout: 60_000 },
  async () => {
    await using database = await createTestDatabase(inject('postgresUrl'))
    // So that it has partitions to make.
    await dropPartitions(database.db, { now: new Date(Date.now() + 30 * DAY), retentionDays: 1 })
    await using scheduler = spawnService('scheduler', {
      REDIS_URL: inject('redisUrl'),
      DATABASE_URL: database.url,
      JADWAL_PREFIX: `calm-${crypto.randomUUID()}`,
    })
    await scheduler.ready
    await scheduler.waitForLog('"leading"')
    // The longest of what a leader does at first: by its end all of its loops have begun to wait.
    await scheduler.waitForLog('partitions of the history kept', 30_000)
    expect(await scheduler.stop()).toBe(0)
    // Node writes its warnings as they are, beside the log.
    expect(
      scheduler.logs.filter((line) => !line.startsWith('{') || line.includes('Warning')),
    ).toEqual([])
  },
)
