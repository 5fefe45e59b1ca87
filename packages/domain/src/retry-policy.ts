import { z } from 'zod'
import { DAY, SECOND } from './clock.ts'

export const Backoff = z.object({
  type: z.literal('exponential'),
  delayMs: z.int().min(0).max(DAY),
  maxDelayMs: z
    .int()
    .min(0)
    .max(30 * DAY),
  /** The part of each wait that is random: 0 none, 1 all of it. */
  jitter: z.number().min(0).max(1),
})
export type Backoff = z.infer<typeof Backoff>

export const DEFAULT_BACKOFF: Backoff = {
  type: 'exponential',
  delayMs: SECOND,
  maxDelayMs: 60 * SECOND,
  jitter: 0.5,
}
export const DEFAULT_ATTEMPTS = 3
export const DEFAULT_TIMEOUT_MS = 60 * SECOND

/**
 * The wait in ms after the `failures`-th failed attempt (counted from 1): doubled each time, capped,
 * and its last `jitter` part drawn evenly. `random` is in [0, 1).
 */
export function retryDelayMs(backoff: Backoff, failures: number, random: number): number {
  const doubled = backoff.delayMs * 2 ** Math.min(Math.max(0, failures - 1), 50)
  const capped = Math.min(doubled, backoff.maxDelayMs)
  return Math.round(capped * (1 - backoff.jitter * random))
}
