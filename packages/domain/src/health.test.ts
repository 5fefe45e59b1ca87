import { expect, test } from 'vitest'
import { findingIf, isVersionAtLeast } from './finding.ts'
import { judgePostgres, type PostgresHealth } from './postgres-health.ts'
import { judgeRedis, type RedisHealth } from './redis-health.ts'
import { judgeWork, type WorkHealth } from './work-health.ts'

const MIB = 1024 * 1024

const REDIS: RedisHealth = {
  version: '7.2.4',
  appendOnly: true,
  fsync: 'everysec',
  evictionPolicy: 'noeviction',
  maxMemoryBytes: 100 * MIB,
  usedMemoryBytes: 10 * MIB,
  latencyMs: { p50: 0.2, max: 0.9 },
  skewMs: 3,
  clients: 40,
  maxClients: 10_000,
  cannotPersist: false,
  replicas: 0,
}
const POSTGRES: PostgresHealth = {
  versionNumber: 160_004,
  maxConnections: 100,
  reservedConnections: 3,
  connections: 20,
  ownConnections: 18,
  latencyMs: 1,
  skewMs: -2,
  pendingMigrations: [],
  withoutTomorrow: [],
  defaultRows: 0,
}
const TERM = Date.parse('2026-12-01T00:00:00.000Z')
const OUTBOX = { depth: 2, oldestMs: 100, rejected: 0 }
const WORK: WorkHealth = {
  leader: { instance: 's1', term: TERM, since: '2026-12-01T00:00:00.010Z' },
  workers: [
    { instance: 'w1', version: '1.0.0', seenAt: '2026-12-01T01:00:00.000Z', queues: ['mail'] },
  ],
  queues: [{ name: 'mail', waiting: 3, ...OUTBOX }],
  schedulerOutbox: OUTBOX,
  nowMs: Date.parse('2026-12-01T01:00:01.000Z'),
}

test('nothing is wrong with what is as it should be, and nothing then has a cure', () => {
  const findings = [...judgeRedis(REDIS), ...judgePostgres(POSTGRES), ...judgeWork(WORK, '1.0.0')]
  expect(findings.filter(({ status }) => status !== 'ok')).toEqual([])
  expect(findings.filter(({ cure }) => cure !== undefined)).toEqual([])
})

test.each<[Partial<RedisHealth>, string, [string, RegExp]]>([
  [{ version: '6.0.16' }, 'redis.version', ['broken', /6\.2 or later/]],
  [{ appendOnly: false }, 'redis.persistence', ['broken', /appendonly yes/]],
  [{ fsync: 'no' }, 'redis.persistence', ['warning', /everysec/]],
  [{ cannotPersist: true }, 'redis.persistence', ['broken', /disk/]],
  [{ evictionPolicy: 'allkeys-lru' }, 'redis.eviction', ['broken', /noeviction/]],
  [{ maxMemoryBytes: 0 }, 'redis.memory', ['warning', /maxmemory/]],
  [{ usedMemoryBytes: 55 * MIB }, 'redis.memory', ['warning', /70 %/]],
  [{ usedMemoryBytes: 71 * MIB }, 'redis.memory', ['broken', /70 %/]],
  [{ latencyMs: { p50: 2.1, max: 9 } }, 'redis.latency', ['warning', /2 ms or less/]],
  [{ skewMs: -700 }, 'redis.clock', ['warning', /NTP/]],
  [{ clients: 9_000 }, 'redis.clients', ['warning', /maxclients/]],
])('of a Redis with %j, %s is %s', (health, check, [status, cure]) => {
  const wrong = judgeRedis({ ...REDIS, ...health }).filter((each) => each.status !== 'ok')
  expect(wrong).toEqual([
    { check, status, found: expect.any(String), cure: expect.stringMatching(cure) },
  ])
})

test('what a hosted Redis does not tell is unknown, not wrong', () => {
  const { appendOnly: _a, fsync: _f, evictionPolicy: _e, maxClients: _m, ...told } = REDIS
  const wrong = judgeRedis(told).filter(({ status }) => status !== 'ok')
  expect(wrong.map(({ check, status }) => [check, status])).toEqual([
    ['redis.persistence', 'unknown'],
    ['redis.eviction', 'unknown'],
  ])
})

test.each<[Partial<PostgresHealth>, string, string]>([
  [{ versionNumber: 140_012 }, 'postgres.version', 'broken'],
  [{ connections: 80 }, 'postgres.connections', 'warning'],
  [{ connections: 96 }, 'postgres.connections', 'broken'],
  [{ pendingMigrations: ['a'] }, 'postgres.migrations', 'broken'],
  [{ withoutTomorrow: ['runs'] }, 'postgres.partitions', 'broken'],
  [{ defaultRows: 10_001 }, 'postgres.default-partition', 'warning'],
  [{ latencyMs: 80 }, 'postgres.latency', 'warning'],
  [{ skewMs: 900 }, 'postgres.clock', 'warning'],
])('of a Postgres with %j, %s is %s', (health, check, status) => {
  const wrong = judgePostgres({ ...POSTGRES, ...health }).filter((each) => each.status !== 'ok')
  expect(wrong.map((each) => [each.check, each.status])).toEqual([[check, status]])
  expect(wrong[0]?.cure).toBeTruthy()
})

test.each<[Partial<WorkHealth>, string, string]>([
  [{ leader: undefined }, 'leader', 'broken'],
  [
    { leader: { instance: 's1', term: TERM, since: '2026-12-01T00:00:05.000Z' } },
    'leader.clock',
    'warning',
  ],
  [{ workers: [] }, 'workers', 'broken'],
  [{ queues: [{ name: 'reports', waiting: 1, ...OUTBOX }] }, 'queue.reports', 'broken'],
  [{ schedulerOutbox: { ...OUTBOX, oldestMs: 61_000 } }, 'outboxes', 'broken'],
  [
    { queues: [{ name: 'mail', waiting: 0, ...OUTBOX, rejected: 2 }] },
    'outboxes.rejected',
    'warning',
  ],
  [{ nowMs: WORK.nowMs - 5_000 }, 'workers.clock', 'warning'],
])('of services with %j, %s is %s', (health, check, status) => {
  const wrong = judgeWork({ ...WORK, ...health }, '1.0.0').filter((each) => each.status !== 'ok')
  expect(wrong.map((each) => [each.check, each.status])).toEqual([[check, status]])
})

test('workers of another version are named', () => {
  const wrong = judgeWork(WORK, '2.0.0').filter(({ status }) => status !== 'ok')
  expect(wrong).toMatchObject([
    { check: 'workers.version', found: expect.stringContaining('1.0.0') },
  ])
})

test('versions are compared by their numbers', () => {
  expect(isVersionAtLeast('20.9.0', '20.19')).toBe(false)
  expect(isVersionAtLeast('20.19.0', '20.19')).toBe(true)
  expect(isVersionAtLeast('22.1.0', '20.19')).toBe(true)
  expect(isVersionAtLeast('8.0', '6.2')).toBe(true)
  expect(findingIf(false, 'broken', { check: 'a', found: 'b', cure: 'c' })).toEqual({
    check: 'a',
    status: 'ok',
    found: 'b',
  })
})
