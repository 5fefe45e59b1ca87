import { randomUUID } from 'node:crypto'
import { applySchedules } from '@jadwal/db'
import { systemClock } from '@jadwal/domain'
import {
  keys,
  openRedis,
  producerConnection,
  publishHeartbeat,
  RedisClock,
  redisReady,
  removeHeartbeat,
} from '@jadwal/queue'
import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { tellOfSchedules } from '../src/tell-of-schedules.ts'
import { tellOfWorkers } from '../src/tell-of-workers.ts'

async function setup() {
  const prefix = `tell-${randomUUID()}`
  const redis = openRedis(producerConnection(inject('redisUrl')), () => {})
  onTestFinished(() => redis.disconnect())
  await redisReady(redis, 10_000)
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const told = async () =>
    (await redis.xrange(keys.eventsKey(prefix), '-', '+')).map(([, fields]) => {
      return [fields[1], JSON.parse(fields[5] ?? '{}')] as const
    })
  return { prefix, redis, redisClock, told }
}

test('workers are told of once when they join and once when they leave or are not heard of', async () => {
  const { prefix, redis, redisClock, told } = await setup()
  const beat = (instance: string, agoMs = 0) =>
    publishHeartbeat(redis, prefix, {
      instance,
      host: 'host-1',
      pid: 1,
      version: '1',
      startedAt: new Date(0).toISOString(),
      seenAt: new Date(redisClock.nowMs() - agoMs).toISOString(),
      state: 'running',
      queues: [{ name: 'emails', concurrency: 1 }],
      running: [],
      runningCount: 0,
      memoryBytes: 0,
    })
  const look = () => tellOfWorkers({ redis, redisClock, prefix })
  await Promise.all([beat('a'), beat('b')])
  await look()
  await look()
  await removeHeartbeat(redis, prefix, 'a')
  await beat('b', 30_000)
  await look()
  await look()
  const data = { host: 'host-1', version: '1', queues: ['emails'] }
  const events = await told()
  expect(events.slice(0, 2)).toEqual([
    ['worker.joined', { instance: 'a', ...data }],
    ['worker.joined', { instance: 'b', ...data }],
  ])
  expect(events.slice(2).map(([type]) => type)).toEqual(['worker.left', 'worker.left'])
  expect(new Set(events.slice(2).map(([, { instance }]) => instance))).toEqual(new Set(['a', 'b']))
})

test('changes of schedules are told by name, from the first look on, also behind another leader', async () => {
  const { prefix, redis, redisClock, told } = await setup()
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { db } = database
  const look = () => tellOfSchedules({ db, redis, redisClock, prefix })
  const apply = (...names: string[]) =>
    applySchedules(db, {
      schedules: names.map((name) => ({ name, input: { job: 'email.send', every: '90s' } })),
      prune: true,
      source: 'api',
      author: 'test',
    })
  await apply('before')
  await look()
  expect(await told()).toEqual([])
  await apply('before', 'a', 'b')
  await look()
  await look()
  await apply('before', 'a')
  await look()
  expect(await told()).toEqual([
    ['schedule.changed', { schedules: ['a', 'b'] }],
    ['schedule.changed', { schedules: ['b'] }],
  ])
})
