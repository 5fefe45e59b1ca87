import { DAY } from '@jadwal/domain'
import { createTestDatabase, FakeClock } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openDatabase, readPostgresHealth } from '../src/index.ts'

test('a clock that is far off is told of, and no partitions are missed for it', async () => {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const db = openDatabase({ url: database.url, schema: 'jadwal', max: 1 })
  onTestFinished(() => db.destroy())
  const clock = new FakeClock(Date.now() + 400 * DAY)
  const health = await readPostgresHealth(db, clock)
  expect(health).toMatchObject({ withoutTomorrow: [], pendingMigrations: [] })
  expect(Math.round(health.skewMs / DAY)).toBe(-400)
})
