import { randomUUID } from 'node:crypto'
import { systemClock } from '@jadwal/domain'
import { FakeClock } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { keys, Lease, type LeaseOptions, readLeader, type Reign } from '../src/index.ts'

const NOW = '2026-09-01T10:00:00.000Z'

function setup() {
  const redis = new Redis(inject('redisUrl'))
  onTestFinished(() => redis.disconnect())
  const prefix = `lease-${randomUUID()}`
  const clock = new FakeClock()
  const candidate = (instance: string, options: Partial<LeaseOptions> = {}): Lease =>
    new Lease(redis, clock, { prefix, leaseMs: 5_000, instance, ...options })
  const facts = async (): Promise<unknown[]> => {
    const entries = await redis.xrange(keys.outboxKey(prefix, keys.SCHEDULER), '-', '+')
    return entries.flatMap(([, fields]) =>
      (fields[1] ?? '').split('\n').map((line) => JSON.parse(line)),
    )
  }
  return { redis, prefix, clock, candidate, facts }
}

async function reignOf(lease: Lease): Promise<Reign> {
  const result = await lease.take(NOW)
  if (!result.taken) throw new Error(`not taken, free in ${result.freeInMs} ms`)
  return result.reign
}

test('one of two takes the lease and the other learns when it may try again', async () => {
  const { candidate } = setup()
  await reignOf(candidate('a', { leaseMs: 60_000 }))
  const second = await candidate('b').take(NOW)
  if (second.taken) throw new Error('both have taken it')
  expect(second.freeInMs).toBeGreaterThan(30_000)
  expect(second.freeInMs).toBeLessThanOrEqual(60_000)
})

test('each term is higher than the one before, and at least the time of Redis', async () => {
  const { candidate } = setup()
  const [a, b] = [candidate('a'), candidate('b')]
  const first = await reignOf(a)
  await a.release(NOW)
  const second = await reignOf(b)
  expect(second.term).toBeGreaterThan(first.term)
  expect(Math.abs(second.term - systemClock.now().getTime())).toBeLessThan(60_000)
})

test('a term that was lost with the data of Redis is not given again', async () => {
  const { candidate, redis, prefix } = setup()
  const a = candidate('a')
  const { term } = await reignOf(a)
  await redis.del(keys.leaseKey(prefix), keys.leaderKey(prefix))
  expect((await reignOf(candidate('b'))).term).toBeGreaterThanOrEqual(term)
})

test('a holder stops trusting its lease before Redis lets go of it', async () => {
  const { candidate, clock } = setup()
  const lease = candidate('a')
  const reign = await reignOf(lease)
  clock.advance(4_000)
  expect(reign.trusted()).toBe(true)
  expect(await lease.renew()).toBe(true)
  clock.advance(4_400)
  expect(reign.trusted()).toBe(true)
  clock.advance(200)
  expect(reign.trusted()).toBe(false)
})

test('a renewal after the lease went to another one fails and takes nothing away', async () => {
  const { candidate, redis, prefix } = setup()
  const [a, b] = [candidate('a'), candidate('b')]
  await reignOf(a)
  await redis.del(keys.leaseKey(prefix))
  const second = await reignOf(b)
  expect(await a.renew()).toBe(false)
  await a.release(NOW)
  expect(await b.renew()).toBe(true)
  expect((await readLeader(redis, prefix))?.term).toBe(second.term)
})

test('a released lease is free at once and nobody leads', async () => {
  const { candidate, redis, prefix } = setup()
  const a = candidate('a')
  const reign = await reignOf(a)
  expect(await readLeader(redis, prefix)).toEqual({ term: reign.term, instance: 'a', since: NOW })
  await a.release(NOW)
  expect(reign.trusted()).toBe(false)
  expect(await readLeader(redis, prefix)).toBeUndefined()
  expect(await a.freeInMs()).toBe(0)
})

test('the beginning and the end of each term are facts, a crash included', async () => {
  const { candidate, redis, prefix, facts } = setup()
  const [a, b] = [candidate('a'), candidate('b')]
  const first = await reignOf(a)
  await redis.del(keys.leaseKey(prefix))
  const second = await reignOf(b)
  await b.release(NOW)
  expect(await facts()).toEqual([
    { kind: 'term', term: first.term, instance: 'a', from_at: NOW },
    {
      kind: 'term',
      term: first.term,
      instance: 'a',
      from_at: NOW,
      until_at: NOW,
      reason: 'expired',
    },
    { kind: 'term', term: second.term, instance: 'b', from_at: NOW },
    {
      kind: 'term',
      term: second.term,
      instance: 'b',
      from_at: NOW,
      until_at: NOW,
      reason: 'released',
    },
  ])
})

test('the end of a term has the reason that its holder gives', async () => {
  const { candidate, facts } = setup()
  const a = candidate('a')
  const { term } = await reignOf(a)
  await a.release(NOW, 'stepped-down')
  expect((await facts()).at(-1)).toMatchObject({ term, until_at: NOW, reason: 'stepped-down' })
})
