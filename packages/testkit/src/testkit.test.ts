import { Redis } from 'ioredis'
import { describe, expect, inject, test } from 'vitest'
import { createTestDatabase } from './test-database.ts'

describe('the test run', () => {
  test('has a Redis that answers', async () => {
    const redis = new Redis(inject('redisUrl'))
    expect(await redis.ping()).toBe('PONG')
    redis.disconnect()
  })

  test('clones its migrated database for each who asks', async () => {
    await using first = await createTestDatabase(inject('postgresUrl'))
    await using second = await createTestDatabase(inject('postgresUrl'))
    expect(first.name).not.toBe(second.name)
    const runs = await second.db.selectFrom('runs').selectAll().execute()
    expect(runs).toEqual([])
  })
})
