import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { messageOf } from './input-file.ts'
import { RedisReadError } from './redis-error.ts'

const CONNECT_MS = 5_000
const COMMAND_MS = 10_000
/** With a password the first command is part of connecting, and knows no timeout of its own. */
const READY_MS = 8_000

/**
 * Opens a connection for reading. It fails within seconds when Redis is away and is never opened
 * again by itself. Only commands that read may be sent on it.
 */
export async function connectToRedis(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    retryStrategy: () => null,
  })
  let cause: unknown
  redis.on('error', (error) => (cause ??= error))
  const late = new AbortController()
  const tooLate = wait(READY_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error(`no answer within ${READY_MS / 1_000} s`)
  })
  try {
    await Promise.race([redis.connect(), tooLate])
    await Promise.race([redis.ping(), tooLate])
    // A database that does not exist is told by an event only, and the commands go to another one.
    if (cause !== undefined) throw cause
    return redis
  } catch (error) {
    redis.disconnect()
    throw new RedisReadError(`${publicUrl(url)} cannot be read: ${problemOf(cause ?? error)}`)
  } finally {
    late.abort()
    tooLate.catch(() => {})
  }
}

function problemOf(error: unknown): string {
  const message = messageOf(error)
  return message.startsWith('Protocol error') ? 'what answers there is no Redis' : message
}

/** The address without its password. */
export function publicUrl(text: string): string {
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}
