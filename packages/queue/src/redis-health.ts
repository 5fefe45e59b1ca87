import type { Clock, RedisHealth } from '@jadwal/domain'
import type { Redis } from 'ioredis'

const PINGS = 20

/** Looks at a Redis from here. Rejects when it does not answer. */
export async function readRedisHealth(
  redis: Redis,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
): Promise<RedisHealth> {
  const info = await redis.info()
  const read = (field: string): string =>
    new RegExp(`^${field}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? ''
  const appendOnly = await setting(redis, 'appendonly')
  const fsync = await setting(redis, 'appendfsync')
  const policy =
    (await setting(redis, 'maxmemory-policy')) ?? (read('maxmemory_policy') || undefined)
  const maxClients = (await setting(redis, 'maxclients')) ?? (read('maxclients') || undefined)
  return {
    version: read('redis_version'),
    ...(appendOnly === undefined
      ? ofInfo(read('aof_enabled'))
      : { appendOnly: appendOnly === 'yes' }),
    ...(fsync === undefined ? {} : { fsync }),
    ...(policy === undefined ? {} : { evictionPolicy: policy }),
    ...(maxClients === undefined ? {} : { maxClients: Number(maxClients) }),
    maxMemoryBytes: Number(read('maxmemory')),
    usedMemoryBytes: Number(read('used_memory')),
    clients: Number(read('connected_clients')),
    replicas: Number(read('connected_slaves')),
    cannotPersist:
      read('aof_last_write_status') === 'err' || read('aof_last_bgrewrite_status') === 'err',
    latencyMs: await measureLatency(redis, clock),
    skewMs: await measureSkew(redis, clock),
  }
}

function ofInfo(enabled: string): { appendOnly?: boolean } {
  return enabled === '' ? {} : { appendOnly: enabled === '1' }
}

/** Undefined where it is not told, as many that are hosted do. */
async function setting(redis: Redis, name: string): Promise<string | undefined> {
  try {
    const [, value] = (await redis.config('GET', name)) as string[]
    return value
  } catch {
    return undefined
  }
}

async function measureLatency(
  redis: Redis,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<{ p50: number; max: number }> {
  const took: number[] = []
  for (let ping = 0; ping < PINGS; ping += 1) {
    const sentMs = clock.monotonicMs()
    await redis.ping()
    took.push(clock.monotonicMs() - sentMs)
  }
  took.sort((a, b) => a - b)
  return { p50: took[PINGS / 2] ?? 0, max: took.at(-1) ?? 0 }
}

/** The answer was made about in the middle between question and answer. */
async function measureSkew(redis: Redis, clock: Pick<Clock, 'now'>): Promise<number> {
  const before = clock.now().getTime()
  const [seconds, micros] = await redis.time()
  const middle = (before + clock.now().getTime()) / 2
  return Number(seconds) * 1_000 + Number(micros) / 1_000 - middle
}
