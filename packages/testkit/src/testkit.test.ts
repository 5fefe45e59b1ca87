import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { describe, expect, inject, test } from 'vitest'
import { inTime } from './in-time.ts'
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

describe('a promised time', () => {
  test('is kept when one of three calls keeps it', async () => {
    let calls = 0
    expect(await inTime(1_000, async () => ((calls += 1) === 1 ? await sleep(1_100) : calls))).toBe(
      2,
    )
  })

  test('is broken when none of three calls keeps it', async () => {
    await expect(inTime(10, () => sleep(20))).rejects.toThrow(/^took \d+, \d+, \d+ ms, where 10 ms/)
  })
})
