/**
 * What a handler throws to say how the run goes on. They are recognised by `name`, not by class:
 * a user's module and the worker may each carry a copy of this file.
 */

/** Ends the run at once as a dead letter, whatever attempts are left: trying again cannot help. */
export class PermanentError extends Error {
  override name = 'PermanentError'
  readonly code = 'PERMANENT'
}

/** Fails the attempt and sets the wait before the next one itself, in ms. Uses an attempt like any failure. */
export class RetryLaterError extends Error {
  override name = 'RetryLaterError'
  readonly code = 'RETRY_LATER'
  readonly delayMs: number

  constructor(delayMs: number, message?: string, options?: ErrorOptions) {
    super(message ?? `asked to be tried again in ${delayMs} ms`, options)
    this.delayMs = delayMs
  }
}

/** The attempt took longer than its job allows. */
export class TimeoutError extends Error {
  override name = 'TimeoutError'
  readonly code = 'TIMEOUT'
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super(`took longer than its timeout of ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/** A handler that was left to itself, or code that it left running, enqueues when its attempt has ended. */
export class AttemptEndedError extends Error {
  override name = 'AttemptEndedError'
  readonly code = 'ATTEMPT_ENDED'

  constructor(runId: string, attempt: number) {
    super(`attempt ${attempt} of run ${runId} has ended: it enqueues nothing more`)
  }
}

export function isPermanentError(error: unknown): error is PermanentError {
  return isNamed(error, 'PermanentError')
}

/** False also when its delay is no number of ms, so that a broken one falls back to the job's backoff. */
export function isRetryLaterError(error: unknown): error is RetryLaterError {
  return isNamed(error, 'RetryLaterError') && isDelay(error)
}

/** What is thrown may break every promise of its type, and throw itself when it is looked at. */
function isNamed(error: unknown, name: string): error is Error {
  try {
    return error instanceof Error && error.name === name
  } catch {
    return false
  }
}

function isDelay(error: Error): boolean {
  try {
    const delayMs: unknown = 'delayMs' in error ? error.delayMs : undefined
    return typeof delayMs === 'number' && Number.isFinite(delayMs) && delayMs >= 0
  } catch {
    return false
  }
}
