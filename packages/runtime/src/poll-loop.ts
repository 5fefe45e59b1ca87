import { getMaxListeners, setMaxListeners } from 'node:events'
import type { Logger } from './logger.ts'
import { rateLimitedErrors } from './rate-limited-errors.ts'
import { sleep } from './sleep.ts'

const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 5_000

export interface PollLoop {
  signal: AbortSignal
  log: Logger
  /** Names the loop in the log when its poll fails. */
  name: string
}

/**
 * Calls `poll` until the signal aborts; `poll` returns how many ms to wait before the next call.
 * A poll that fails is logged, not too often, and tried again after 100 ms … 5 s, with jitter.
 * Resolves when the poll that was under way at the abort has ended.
 */
export async function pollLoop(
  poll: () => Promise<number>,
  { signal, log, name }: PollLoop,
): Promise<void> {
  const failed = rateLimitedErrors(log.child({ loop: name }), 'poll failed')
  let failures = 0
  expectListeners(signal, 1)
  while (!signal.aborted) {
    let delayMs: number
    try {
      delayMs = await poll()
      failures = 0
    } catch (error) {
      failed(error)
      delayMs = backoffMs(failures)
      failures += 1
    }
    await sleep(delayMs, signal)
  }
  expectListeners(signal, -1)
}

/** A loop listens to its signal while it waits: Node takes a dozen of loops for a leak, unless it is told. */
function expectListeners(signal: AbortSignal, more: number): void {
  const most = getMaxListeners(signal)
  // 0 is no bound.
  if (most > 0) setMaxListeners(most + more, signal)
}

function backoffMs(failures: number): number {
  const fullMs = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(failures, 10), LONGEST_BACKOFF_MS)
  return fullMs * (0.5 + Math.random() / 2)
}
