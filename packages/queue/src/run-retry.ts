import type { RunError } from '@jadwal/domain'

/** When BullMQ fails a message for a reason of its own, such as Redis refusing to complete it. */
const OWN_FAILURE_WAIT_MS = 1_000

/**
 * Tells BullMQ to try the message again. Its name and message are never those that mean something to
 * BullMQ (`UnrecoverableError`, the rate limit), whatever a handler threw.
 */
export class RetrySignal extends Error {
  override name = 'RetrySignal'
  readonly delayMs: number

  constructor(error: RunError | undefined, delayMs: number) {
    super(error ? `${error.name}: ${error.message}` : 'to be retried since an earlier attempt')
    this.delayMs = delayMs
    if (error) this.stack = error.stack ?? this.message
  }
}

/** BullMQ's backoff strategy: the wait was decided before, together with the fact that tells of it. */
export function retryWaitMs(_attempts: number, _type?: string, error?: Error): number {
  return error instanceof RetrySignal ? Math.round(error.delayMs) : OWN_FAILURE_WAIT_MS
}
