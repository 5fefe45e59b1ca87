import type { RedisOptions } from 'ioredis'
import { z } from 'zod'

/** The variable `REDIS_URL`. */
export const redisUrlEnv = z
  .string()
  .superRefine((url, ctx) => {
    const problem = redisUrlProblem(url)
    if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem })
  })
  .default('redis://127.0.0.1:6379')

/** What is wrong with a `REDIS_URL`; undefined when nothing is. */
export function redisUrlProblem(url: string): string | undefined {
  try {
    redisOptions(url)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * ioredis options of a `REDIS_URL`: `redis://`, `rediss://` (TLS) or
 * `redis+sentinel://[user:password@]host:port,host:port/master-name[?db=N]`.
 * Throws an Error that says what would be right.
 */
export function redisOptions(url: string): RedisOptions {
  if (url.startsWith('redis+sentinel://')) return sentinelOptions(url)
  if (/^rediss?\+cluster:/.test(url))
    throw new Error(
      'must be one primary (redis://, rediss://) or found by Sentinel (redis+sentinel://host:port,host:port/name): a Redis cluster is not supported',
    )
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || (parsed.protocol !== 'redis:' && parsed.protocol !== 'rediss:')) {
    throw new Error(
      'must be redis://host:port, rediss://host:port or redis+sentinel://host:port,host:port/name',
    )
  }
  const db = parsed.pathname.replace('/', '')
  if (db !== '' && !/^\d+$/.test(db)) throw new Error(`database "${db}" must be a number`)
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: Number(parsed.port || 6379),
    ...credentials(parsed.username, parsed.password),
    ...(db === '' ? {} : { db: Number(db) }),
    ...(parsed.protocol === 'rediss:' ? { tls: { servername: parsed.hostname } } : {}),
  }
}

function sentinelOptions(url: string): RedisOptions {
  const match =
    /^redis\+sentinel:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?]+)\/([^/?]+)(?:\?db=(\d+))?$/.exec(url)
  if (!match) throw new Error('must be redis+sentinel://host:port,host:port/name')
  const [, username = '', password = '', hosts = '', name = '', db] = match
  const sentinels = hosts.split(',').map((address) => {
    const [host = '', port = '26379'] = address.split(':')
    return { host, port: Number(port) }
  })
  return { sentinels, name, ...credentials(username, password), ...(db ? { db: Number(db) } : {}) }
}

function credentials(username: string, password: string): RedisOptions {
  return {
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
  }
}
