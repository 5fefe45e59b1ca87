import { Redis, type RedisOptions } from 'ioredis'
import { isRedisError } from './redis-errors.ts'
import { redisOptions } from './redis-url.ts'

/** What a server says that is no longer, or not yet, the one to talk to. */
const ELSEWHERE: ReadonlySet<string> = new Set(['READONLY', 'LOADING'])

/**
 * The connections, by what they are for. Each waits differently when Redis is away:
 * a worker waits as long as it takes, a producer must answer within a second, and the leader must
 * know at once, since what it sends late may be wrong.
 */
const COMMON: RedisOptions = {
  connectTimeout: 5_000,
  keepAlive: 30_000,
  // It tells the version of ioredis, which it reads from a file that is not beside a bundle.
  disableClientInfo: true,
  retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 6), 1_000) + Math.random() * 200,
  // READONLY after a failover is no connection error to ioredis: without this BullMQ spins on it.
  reconnectOnError: (error) => (isRedisError(error, ELSEWHERE) ? 2 : false),
}

/** For BullMQ workers and consumers of streams: waits out any outage. */
export function workerConnection(url: string): RedisOptions {
  return { ...COMMON, ...redisOptions(url), maxRetriesPerRequest: null, enableOfflineQueue: true }
}

/** For producers and readers: an error within a second or two, never a command that hangs. */
export function producerConnection(url: string): RedisOptions {
  return {
    ...COMMON,
    ...redisOptions(url),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 3_000,
    autoResendUnfulfilledCommands: false,
  }
}

/**
 * For the leader: a command that got no reply fails and is never sent again by itself, since ioredis
 * would send a MULTI again without the WATCH before it.
 */
export function leaderConnection(url: string, commandTimeoutMs: number): RedisOptions {
  return { ...producerConnection(url), commandTimeout: commandTimeoutMs }
}

/** Opens a connection. `onError` hears each connection error; without a listener ioredis prints them. */
export function openRedis(options: RedisOptions, onError: (error: Error) => void): Redis {
  const redis = new Redis(options)
  redis.on('error', onError)
  // Each command that a server refuses as it is not the one to talk to adds a listener that waits for its end.
  redis.on('connect', () => redis.stream.setMaxListeners(Infinity))
  return redis
}

/** Resolves when the connection can take commands; rejects with the last connection error after `timeoutMs`. */
export async function redisReady(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return
  await new Promise<void>((resolve, reject) => {
    let lastError: Error | undefined
    const remember = (error: Error): void => {
      lastError = error
    }
    const settle = (done: () => void): void => {
      clearTimeout(timer)
      redis.off('ready', ready)
      redis.off('error', remember)
      done()
    }
    const ready = (): void => settle(resolve)
    const timer = setTimeout(
      () => settle(() => reject(lastError ?? new Error(`no answer within ${timeoutMs} ms`))),
      timeoutMs,
    )
    redis.on('ready', ready)
    redis.on('error', remember)
  })
}
