import { RedisUnavailableError, TryLaterError } from './errors.ts'
import { isRedisError } from './redis-errors.ts'

/** Redis is so full that producers are turned away. */
export function tryLater(cause?: unknown): TryLaterError {
  return new TryLaterError('Redis is nearly full: try again later', { cause })
}

/** Turns the many ways in which ioredis says "not now" into two errors of ours. */
export async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TryLaterError || !(error instanceof Error)) throw error
    if (isRedisError(error, FULL)) throw tryLater(error)
    if (isRedisTrouble(error))
      throw new RedisUnavailableError(`Redis did not answer: ${error.message}`, { cause: error })
    throw error
  }
}

const FULL: ReadonlySet<string> = new Set(['OOM', 'EXECABORT'])
const NO_WRITES: ReadonlySet<string> = new Set(
  'LOADING READONLY MASTERDOWN NOREPLICAS MISCONF CLUSTERDOWN'.split(' '),
)
const NO_ANSWER =
  /Connection is closed|no answer within|Command timed out|isn't writeable|max retries|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND/i

/** Whether an error is Redis being away or unable to write, as opposed to a mistake in what was sent. */
export function isRedisTrouble(error: Error): boolean {
  return NO_ANSWER.test(error.message) || isRedisError(error, NO_WRITES)
}
