import { randomBytes } from 'node:crypto'
import { systemClock } from '@jadwal/domain'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { findLock, Lease, listLocks, releaseLock } from '../src/index.ts'
import { alertsLeaseKey, bullKey, lotsKey, queuesKey, slotsKey } from '../src/keys.ts'

const RUN = '019a2b3c-0000-7000-8000-000000000001'

function setup() {
  const redis = new Redis(inject('redisUrl'))
  onTestFinished(() => redis.disconnect())
  const prefix = `locks-${randomBytes(4).toString('hex')}`
  /** As the list has it, and as it is found alone. */
  const find = async (id: string) => {
    const { locks } = await listLocks(redis, prefix)
    const [listed, found] = [
      locks.find((each) => each.id === id),
      await findLock(redis, prefix, id),
    ]
    const without = { expiresInMs: undefined }
    expect(found && { ...found, ...without }).toEqual(listed && { ...listed, ...without })
    return found
  }
  return { redis, prefix, find }
}

test('a leader whose lease was taken is lost, and the next one has a higher term', async () => {
  const { redis, prefix, find } = setup()
  const leaseOf = (instance: string) =>
    new Lease(redis, systemClock, { prefix, leaseMs: 60_000, instance })
  const old = leaseOf('old')
  const first = await old.take('2026-12-01T00:00:00.000Z')
  const lock = await find('leader')
  expect(lock).toMatchObject({
    kind: 'leader',
    holder: 'old',
    stale: false,
    since: '2026-12-01T00:00:00.000Z',
  })
  if (!lock || !first.taken) throw new Error('the lease was not taken')
  expect(await releaseLock(redis, prefix, { ...lock, term: first.reign.term - 1 })).toBe('gone')
  expect(await releaseLock(redis, prefix, lock)).toBe('released')
  expect(await find('leader')).toBeUndefined()
  expect(await old.renew()).toBe(false)
  const second = await leaseOf('new').take('2026-12-01T00:00:01.000Z')
  expect(second.taken && second.reign.term).toBeGreaterThan(first.reign.term)
  expect(await releaseLock(redis, prefix, lock)).toBe('gone')
})

test('a slot is taken from a run that has gone, never from one that lives', async () => {
  const { redis, prefix, find } = setup()
  const lot = 'key:pay:=c1'
  await redis.sadd(queuesKey(prefix), 'pay')
  await redis.hset(lotsKey(prefix, 'pay'), lot, '1')
  await redis.sadd(slotsKey(prefix, 'pay', lot), RUN)
  const message = bullKey(prefix, 'pay', RUN)
  await redis.hset(message, { jslot: lot, processedOn: '1795931000000' })
  const lock = await find(`slot:pay:${RUN}`)
  expect(lock).toMatchObject({ holder: RUN, job: 'pay', lot, stale: false })
  if (!lock) throw new Error('it is not listed')
  expect(await releaseLock(redis, prefix, lock)).toBe('in-use')
  // Whoever looked when it was gone, and asks when it is back, takes nothing.
  expect(await releaseLock(redis, prefix, { ...lock, stale: true })).toBe('in-use')
  expect(await redis.scard(slotsKey(prefix, 'pay', lot))).toBe(1)
  await redis.del(message)
  const stale = await find(`slot:pay:${RUN}`)
  expect(stale?.stale).toBe(true)
  if (!stale) throw new Error('it is not listed when it is stale')
  const releases = await Promise.all([1, 2].map(() => releaseLock(redis, prefix, stale)))
  expect(releases.toSorted()).toEqual(['gone', 'released'])
  expect(await find(`slot:pay:${RUN}`)).toBeUndefined()
})

test('the lock of an attempt is listed, and stays; the lease of alerts can be taken', async () => {
  const { redis, prefix, find } = setup()
  await redis.sadd(queuesKey(prefix), 'mail')
  await redis.lpush(bullKey(prefix, 'mail', 'active'), RUN)
  await redis.set(`${bullKey(prefix, 'mail', RUN)}:lock`, 'token', 'PX', 60_000)
  const attempt = await find(`attempt:mail:${RUN}`)
  expect(attempt).toMatchObject({ kind: 'attempt', stale: false, expiresInMs: expect.any(Number) })
  if (!attempt) throw new Error('the attempt is not listed')
  expect(await releaseLock(redis, prefix, attempt)).toBe('in-use')
  await redis.set(alertsLeaseKey(prefix), 'an-api', 'PX', 60_000)
  const alerts = await find('alerts')
  if (!alerts) throw new Error('the lease of alerts is not listed')
  expect(await releaseLock(redis, prefix, { ...alerts, holder: 'another' })).toBe('gone')
  expect(await releaseLock(redis, prefix, alerts)).toBe('released')
  expect(await find('alerts')).toBeUndefined()
})

test('however much is held, the list is short, says so, and has some of every queue', async () => {
  const { redis, prefix } = setup()
  const queues = Array.from({ length: 20 }, (_, at) => `q${at}`)
  await redis.sadd(queuesKey(prefix), ...queues)
  const runs = Array.from({ length: 100 }, (_, at) => `run-${at}`)
  for (const queue of queues) {
    await redis.rpush(bullKey(prefix, queue, 'active'), ...runs)
    await redis.hset(lotsKey(prefix, queue), Object.fromEntries(runs.map((run) => [lotOf(run), 1])))
    await Promise.all(runs.map((run) => redis.sadd(slotsKey(prefix, queue, lotOf(run)), run)))
  }
  await redis.hset(lotsKey(prefix, 'q0'), 'fuse:pay', '')
  const commands = vi.spyOn(redis, 'sendCommand')
  const { locks, truncated } = await listLocks(redis, prefix)
  expect(truncated).toBe(true)
  expect(commands.mock.calls.length).toBeLessThan(3_000)
  for (const kind of ['slot', 'attempt'] as const) {
    const ofKind = locks.filter((lock) => lock.kind === kind)
    expect(ofKind).toHaveLength(500)
    for (const queue of queues)
      expect([queue, ofKind.filter((lock) => lock.queue === queue)]).toEqual([
        queue,
        expect.objectContaining({ length: 25 }),
      ])
  }
})

test('a slot that no list has room for is found and taken by its id', async () => {
  const { redis, prefix } = setup()
  await redis.sadd(queuesKey(prefix), 'pay')
  const runs = Array.from({ length: 1_200 }, (_, at) => `run-${at}`)
  await redis.hset(lotsKey(prefix, 'pay'), Object.fromEntries(runs.map((run) => [lotOf(run), 1])))
  await Promise.all(runs.map((run) => redis.sadd(slotsKey(prefix, 'pay', lotOf(run)), run)))
  const { locks } = await listLocks(redis, prefix)
  const listed = new Set(locks.map(({ holder }) => holder))
  const unseen = runs.find((run) => !listed.has(run)) ?? ''
  const lock = await findLock(redis, prefix, `slot:pay:${unseen}`)
  expect(lock).toMatchObject({ holder: unseen, lot: lotOf(unseen), stale: true })
  if (!lock) throw new Error('it is not found')
  expect(await releaseLock(redis, prefix, lock)).toBe('released')
  expect(await redis.exists(slotsKey(prefix, 'pay', lotOf(unseen)))).toBe(0)
  for (const id of [
    `slot:pay:${unseen}`,
    'slot:none:x',
    'attempt:pay:x',
    'slot',
    'nothing',
    'a:b:c',
  ])
    expect([id, await findLock(redis, prefix, id)]).toEqual([id, undefined])
})

test('of the slots of one run in two lots its id means the one that is stale', async () => {
  const { redis, prefix } = setup()
  for (const lot of ['key:pay:=a', 'key:pay:=b']) {
    await redis.hset(lotsKey(prefix, 'pay'), lot, '1')
    await redis.sadd(slotsKey(prefix, 'pay', lot), RUN)
  }
  for (const [own, stale] of [
    ['key:pay:=a', 'key:pay:=b'],
    ['key:pay:=b', 'key:pay:=a'],
  ] as const) {
    await redis.hset(bullKey(prefix, 'pay', RUN), { jslot: own })
    expect(await findLock(redis, prefix, `slot:pay:${RUN}`)).toMatchObject({
      lot: stale,
      stale: true,
    })
  }
})

function lotOf(run: string): string {
  return `key:pay:=${run}`
}
