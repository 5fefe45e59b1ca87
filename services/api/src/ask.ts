import { isRedisError, isRedisTrouble, TryLaterError } from '@jadwal/queue'
import { isPostgresTrouble } from './postgres-trouble.ts'
import { Problem } from './problem.ts'

const FULL: ReadonlySet<string> = new Set(['OOM', 'EXECABORT'])

/** Does something with Redis. Throws a `Problem` when Redis is away, and `TryLaterError` when it is full. */
export async function askRedis<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (isRedisError(error, FULL))
      throw new TryLaterError('Redis is full: try again later', { cause: error })
    throw isRedisTrouble(error) ? redisAway(error) : error
  }
}

/** Reads the history. Throws a `Problem` when Postgres is away. */
export async function askHistory<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isPostgresTrouble(error) ? historyAway(error) : error
  }
}

/** The same, where it also goes without: undefined when Postgres is away. */
export async function askHistoryIfThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isPostgresTrouble(error)) return undefined
    throw error
  }
}

export function redisAway(cause: unknown): Problem {
  const detail = 'Redis cannot be reached right now: ask again in a moment.'
  return new Problem('redis-unavailable', { detail, headers: { 'Retry-After': '2' }, cause })
}

function historyAway(cause: unknown): Problem {
  const detail =
    'Postgres cannot be reached right now, or was not migrated. Runs go on; their history can be read when it is back.'
  return new Problem('history-unavailable', { detail, headers: { 'Retry-After': '5' }, cause })
}
