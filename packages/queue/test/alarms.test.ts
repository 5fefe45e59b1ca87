import { randomUUID } from 'node:crypto'
import { cadenceKey } from '@jadwal/domain'
import { eventually } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { alarmId, Alarms, keys } from '../src/index.ts'

const SECOND = cadenceKey({ kind: 'every', everyMs: 1_000, offsetMs: 0 })
const DAILY = cadenceKey({
  kind: 'cron',
  expression: '0 6 * * *',
  timezone: 'Asia/Jakarta',
  gap: 'shift',
  fold: 'once',
})

function setup() {
  const prefix = `alarms-${randomUUID()}`
  const redis = new Redis(inject('redisUrl'))
  const alarms = new Alarms({ url: inject('redisUrl'), prefix, onError: () => {} })
  onTestFinished(async () => {
    await alarms.close()
    redis.disconnect()
  })
  const repeat = keys.bullKey(prefix, 'ticks', 'repeat')
  return { alarms, redis, prefix, repeat, now: () => Date.now() }
}

test('each distinct cadence has one repeatable message, whose next instant is the next tick', async () => {
  const { alarms, redis, repeat, now } = setup()
  expect(await alarms.reconcile([SECOND, DAILY, DAILY], now())).toEqual({ upserted: 2, removed: 0 })
  const next = Number(await redis.zscore(repeat, alarmId(DAILY)))
  expect(new Date(next).toISOString()).toMatch(/T23:00:00\.000Z$/)
})

test('what is in order already is left alone and what is not wanted goes', async () => {
  const { alarms, redis, repeat, now } = setup()
  await alarms.reconcile([SECOND, DAILY], now())
  const before = await redis.zscore(repeat, alarmId(DAILY))
  expect(await alarms.reconcile([DAILY], now())).toEqual({ upserted: 0, removed: 1 })
  expect(await redis.zrange(repeat, 0, -1)).toEqual([alarmId(DAILY)])
  expect(await redis.zscore(repeat, alarmId(DAILY))).toBe(before)
})

test('a cadence whose next message is gone gets a new one', async () => {
  const { alarms, redis, repeat, prefix, now } = setup()
  await alarms.reconcile([DAILY], now())
  const next = await redis.zscore(repeat, alarmId(DAILY))
  await redis.del(`${repeat}:${alarmId(DAILY)}:${next}`)
  await redis.zrem(keys.bullKey(prefix, 'ticks', 'delayed'), `repeat:${alarmId(DAILY)}:${next}`)
  expect(await alarms.reconcile([DAILY], now())).toEqual({ upserted: 1, removed: 0 })
  expect(await redis.exists(`${repeat}:${alarmId(DAILY)}:${next}`)).toBe(1)
})

test('an alarm rings at each tick and leaves nothing behind', async () => {
  const { alarms, redis, prefix, now } = setup()
  let rings = 0
  alarms.listen(() => {
    rings += 1
  })
  await alarms.reconcile([SECOND], now())
  await eventually(() => expect(rings).toBeGreaterThanOrEqual(3))
  await alarms.stopListening()
  const messages = await redis.keys(`${keys.bullKey(prefix, 'ticks', '')}repeat:*:*`)
  expect(messages.length).toBeLessThanOrEqual(2)
})
