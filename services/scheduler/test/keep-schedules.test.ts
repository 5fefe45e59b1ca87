import { applySchedules } from '@jadwal/db'
import { DAY, HOUR, type ScheduleId, systemClock } from '@jadwal/domain'
import { RedisClock } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { Registry } from 'prom-client'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { ScheduleKeeper } from '../src/keep-schedules.ts'
import { ScheduleBook } from '../src/schedule-book.ts'
import { createSchedulerMetrics } from '../src/scheduler-metrics.ts'

test('a deleted schedule counts no more at once, and is forgotten when it owes nothing any more', async () => {
  const { db, ...database } = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const redis = new Redis(inject('redisUrl'))
  onTestFinished(() => redis.disconnect())
  const redisClock = new RedisClock(redis, systemClock)
  const now = systemClock.now().getTime()
  const nowMs = vi.spyOn(redisClock, 'nowMs').mockReturnValue(now)
  const book = new ScheduleBook()
  const metrics = createSchedulerMetrics(new Registry())
  const log = createLogger('scheduler', 'silent', 'test')
  const keeper = new ScheduleKeeper({ db, book, redisClock, metrics, log })
  const count = async () => (await metrics.schedules.get()).values[0]?.value

  const file = { source: 'file', author: 'schedules.yaml', prune: true } as const
  const input = { job: 'email.send', every: '1h' }
  await applySchedules(db, { ...file, schedules: [{ name: 'hourly', input }] })
  await keeper.refresh()
  const [id] = [...book.ids()] as [ScheduleId]
  expect(await count()).toBe(1)

  await applySchedules(db, { ...file, schedules: [] })
  await keeper.refresh()
  expect(await count()).toBe(0)
  nowMs.mockReturnValue(now + 30 * DAY - HOUR)
  await keeper.refresh()
  expect(book.get(id)).toBeDefined()
  nowMs.mockReturnValue(now + 31 * DAY)
  await keeper.refresh()
  expect(book.get(id)).toBeUndefined()
})
