import { randomUUID } from 'node:crypto'
import { HOUR } from '@jadwal/domain'
import { Lease, RedisClock, type Reign } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { FakeClock } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { Bell } from '../src/bell.ts'
import { Candidate } from '../src/leadership.ts'

const LEASE_MS = 5_000
const NOW = new Date().toISOString()

async function setup() {
  const redis = new Redis(inject('redisUrl'))
  onTestFinished(() => redis.disconnect())
  const prefix = `candidate-${randomUUID()}`
  /** A candidate whose wall clock is ahead of that of Redis. */
  const candidate = async (instance: string, aheadMs: number) => {
    const [seconds, micros] = await redis.time()
    const redisMs = Number(seconds) * 1_000 + Number(micros) / 1_000
    const clock = new FakeClock(redisMs + aheadMs)
    const redisClock = new RedisClock(redis, clock)
    await redisClock.measure()
    const lease = new Lease(redis, clock, { prefix, leaseMs: LEASE_MS, instance })
    const log = createLogger('scheduler', 'silent', instance)
    const deps = { lease, redisClock, clock, leaseFree: new Bell(), leaseMs: LEASE_MS, log }
    return { clock, lease, redisClock, candidate: new Candidate(deps) }
  }
  return { candidate }
}

const leads = (result: Reign | { waitMs: number }): boolean => 'term' in result

test('a candidate leads when the lease is free, and else waits for as long as it lasts', async () => {
  const { candidate } = await setup()
  const [a, b] = [await candidate('a', 0), await candidate('b', 0)]
  expect(leads(await a.candidate.stand())).toBe(true)
  expect(await b.candidate.stand()).toEqual({ waitMs: 500 })
})

test('one whose clock is off lets others lead first', async () => {
  const { candidate } = await setup()
  const [wrong, right] = [await candidate('wrong', 10_000), await candidate('right', 0)]
  expect(leads(await wrong.candidate.stand())).toBe(false)
  wrong.clock.advance(LEASE_MS)
  expect(leads(await wrong.candidate.stand())).toBe(false)
  expect(leads(await right.candidate.stand())).toBe(true)
  wrong.clock.advance(10 * LEASE_MS)
  expect(leads(await wrong.candidate.stand())).toBe(false)
})

test('and leads in the end when nobody else does', async () => {
  const { candidate } = await setup()
  const wrong = await candidate('wrong', -10_000)
  expect(leads(await wrong.candidate.stand())).toBe(false)
  wrong.clock.advance(LEASE_MS + 1_001)
  expect(leads(await wrong.candidate.stand())).toBe(true)
})

test('the time of standing back counts from when the lease was last seen free', async () => {
  const { candidate } = await setup()
  const [wrong, right] = [await candidate('wrong', 10_000), await candidate('right', 0)]
  await right.candidate.stand()
  await wrong.candidate.stand()
  wrong.clock.advance(10 * LEASE_MS)
  await right.lease.release(NOW)
  expect(leads(await wrong.candidate.stand())).toBe(false)
  wrong.clock.advance(LEASE_MS + 1_001)
  expect(leads(await wrong.candidate.stand())).toBe(true)
})

test('one that stands back lets another lead first, and leads when the time for that is over', async () => {
  const { candidate } = await setup()
  const [a, b] = [await candidate('a', 0), await candidate('b', 0)]
  a.candidate.standBack()
  a.clock.advance(900)
  expect(leads(await a.candidate.stand())).toBe(false)
  a.clock.advance(101)
  expect(leads(await a.candidate.stand())).toBe(true)
  expect(leads(await b.candidate.stand())).toBe(false)
})

test('it stands back no longer once another has led', async () => {
  const { candidate } = await setup()
  const [a, b] = [await candidate('a', 0), await candidate('b', 0)]
  a.candidate.standBack()
  await b.candidate.stand()
  expect(leads(await a.candidate.stand())).toBe(false)
  await b.lease.release(NOW)
  expect(leads(await a.candidate.stand())).toBe(true)
})

test('a lone one that stands back leads in time although the clock of Redis is set back', async () => {
  const { candidate } = await setup()
  const lone = await candidate('lone', 0)
  lone.candidate.standBack()
  vi.spyOn(lone.redisClock, 'nowMs').mockReturnValue(lone.clock.now().getTime() - HOUR)
  lone.clock.advance(LEASE_MS + 1_001)
  expect(leads(await lone.candidate.stand())).toBe(true)
})
