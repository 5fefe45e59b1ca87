import { setTimeout as sleep } from 'node:timers/promises'
import { isRedisError } from './redis-errors.ts'

const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 2_000

/** Redis is there but takes no writes for now: worth asking again, however long it takes. */
export const PASSING: ReadonlySet<string> = new Set(
  'OOM READONLY LOADING MISCONF NOREPLICAS BUSY MASTERDOWN CLUSTERDOWN TRYAGAIN'.split(' '),
)

export interface Persistence {
  onError: (error: Error) => void
  /** Aborts when it is to be given up. */
  stop?: AbortSignal | undefined
}

/**
 * Repeats a call for as long as Redis refuses it for a reason that passes. Resolves to undefined when
 * told to stop after such a refusal; rejects with any other error.
 */
export async function untilTaken<T>(
  call: () => Promise<T>,
  { onError, stop }: Persistence,
): Promise<T | undefined> {
  for (
    let backoffMs = FIRST_BACKOFF_MS;
    ;
    backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS)
  ) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof Error) || !isRedisError(error, PASSING)) throw error
      onError(error)
    }
    // Rejects when it is cut short, which the next line sees.
    await sleep(backoffMs, undefined, stop ? { signal: stop } : {}).catch(() => undefined)
    if (stop?.aborted) return undefined
  }
}
