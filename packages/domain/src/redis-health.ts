import { type Finding, findingIf, isVersionAtLeast, MOST_SKEW_MS } from './finding.ts'

/** What was seen of a Redis. What it does not tell is absent. */
export interface RedisHealth {
  version: string
  appendOnly?: boolean
  /** `always`, `everysec` or `no`. */
  fsync?: string
  evictionPolicy?: string
  /** 0: without a limit. */
  maxMemoryBytes: number
  usedMemoryBytes: number
  /** Of the middle and the slowest of some commands, in ms. */
  latencyMs: { p50: number; max: number }
  /** How far the clock of Redis is ahead of that of whoever looked, in ms. */
  skewMs: number
  clients: number
  maxClients?: number
  /** The last write of its append-only file has failed. */
  cannotPersist: boolean
  replicas: number
}

const LEAST_VERSION = '6.2'
/** What ten thousand schedules due in one second need. */
const MOST_LATENCY_MS = 2
const MIB = 1024 * 1024
/** Above these producers are turned away, and workers stop. */
const [FULL, ALMOST_FULL] = [0.7, 0.5]

/** What is wrong with a Redis, and what cures it. */
export function judgeRedis(redis: RedisHealth): Finding[] {
  return [
    findingIf(!isVersionAtLeast(redis.version, LEAST_VERSION), 'broken', {
      check: 'redis.version',
      found: `Redis ${redis.version}`,
      cure: `Jadwal needs Redis ${LEAST_VERSION} or later: upgrade it.`,
    }),
    persistence(redis),
    eviction(redis),
    memory(redis),
    findingIf(redis.latencyMs.p50 > MOST_LATENCY_MS, 'warning', {
      check: 'redis.latency',
      found: `a command takes ${round(redis.latencyMs.p50)} ms (the slowest of a few ${round(redis.latencyMs.max)} ms)`,
      cure: `${MOST_LATENCY_MS} ms or less is what 10,000 schedules in one second need: move Redis nearer (same zone), look at its CPU, at "redis-cli --latency" and SLOWLOG.`,
    }),
    findingIf(Math.abs(redis.skewMs) > MOST_SKEW_MS, 'warning', {
      check: 'redis.clock',
      found: `its clock is ${Math.abs(Math.round(redis.skewMs))} ms ${redis.skewMs >= 0 ? 'ahead of' : 'behind'} this host's`,
      cure: 'Ticks follow the clock of Redis: let both hosts keep time by NTP (chrony, systemd-timesyncd).',
    }),
    ...clients(redis),
  ]
}

function persistence({ appendOnly, fsync, cannotPersist }: RedisHealth): Finding {
  const check = 'redis.persistence'
  if (cannotPersist)
    return {
      check,
      status: 'broken',
      found: 'Redis could not write its append-only file',
      cure: 'Its disk is full or broken: see its log, and free space.',
    }
  if (appendOnly === undefined)
    return {
      check,
      status: 'unknown',
      found: 'Redis does not tell how it persists (CONFIG is not allowed)',
      cure: 'See in the console of its provider that append-only persistence is on, with fsync each second.',
    }
  if (!appendOnly)
    return {
      check,
      status: 'broken',
      found: 'appendonly is no: what waits is lost when Redis ends',
      cure: 'Set "appendonly yes" and "appendfsync everysec" in redis.conf, or now: redis-cli CONFIG SET appendonly yes, then CONFIG REWRITE.',
    }
  return findingIf(fsync === 'no', 'warning', {
    check,
    found: `appendonly, fsync ${fsync ?? 'unknown'}`,
    cure: 'With "appendfsync no" a crash of the host loses up to half a minute: set everysec.',
  })
}

function eviction({ evictionPolicy: policy }: RedisHealth): Finding {
  const check = 'redis.eviction'
  if (policy === undefined)
    return {
      check,
      status: 'unknown',
      found: 'Redis does not tell its eviction policy (CONFIG is not allowed)',
      cure: 'It must be noeviction: see in the console of its provider.',
    }
  return findingIf(policy !== 'noeviction', 'broken', {
    check,
    found: `maxmemory-policy is ${policy}`,
    cure: 'Redis would throw runs away when it is full: redis-cli CONFIG SET maxmemory-policy noeviction, and in redis.conf.',
  })
}

function memory({ maxMemoryBytes, usedMemoryBytes }: RedisHealth): Finding {
  const check = 'redis.memory'
  const used = `${Math.round(usedMemoryBytes / MIB)} MiB`
  if (maxMemoryBytes === 0)
    return {
      check,
      status: 'warning',
      found: `${used} in use, without a limit`,
      cure: 'Set maxmemory, so that producers are told to wait before the host has none left.',
    }
  const use = usedMemoryBytes / maxMemoryBytes
  const found = `${used} in use, ${Math.round(use * 100)} % of maxmemory`
  const cure =
    'At 70 % producers are turned away. See which queues wait and whether recorders move the outboxes; raise maxmemory.'
  return findingIf(use >= ALMOST_FULL, use >= FULL ? 'broken' : 'warning', { check, found, cure })
}

function clients({ clients: count, maxClients }: RedisHealth): Finding[] {
  if (maxClients === undefined) return []
  return [
    findingIf(count > maxClients * 0.8, 'warning', {
      check: 'redis.clients',
      found: `${count} of ${maxClients} connections`,
      cure: 'Raise maxclients (and the open-file limit of Redis), or run fewer processes.',
    }),
  ]
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
