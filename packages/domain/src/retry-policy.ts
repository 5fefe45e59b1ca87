import { z } from 'zod'
import { DAY, SECOND } from './clock.ts'

const Wait = z
  .int()
  .min(0)
  .max(30 * DAY)
/** The part of each wait that is random: 0 none, 1 all of it. */
const Jitter = z.number().min(0).max(1)

export const Backoff = z.discriminatedUnion('type', [
  /** Doubled from `delayMs` up to `maxDelayMs`. */
  z.strictObject({
    type: z.literal('exponential'),
    delayMs: z.int().min(0).max(DAY),
    maxDelayMs: Wait,
    jitter: Jitter,
  }),
  /** Always the same. */
  z.strictObject({ type: z.literal('fixed'), delayMs: Wait, jitter: Jitter }),
  /** The first wait after the first failure, and so on; the last one from then on. */
  z.strictObject({
    type: z.literal('list'),
    delaysMs: z.array(Wait).min(1).max(1_000),
    jitter: Jitter,
  }),
])
export type Backoff = z.infer<typeof Backoff>

export const DEFAULT_JITTER = 0.5
export const DEFAULT_BACKOFF: Extract<Backoff, { type: 'exponential' }> = {
  type: 'exponential',
  delayMs: SECOND,
  maxDelayMs: 60 * SECOND,
  jitter: DEFAULT_JITTER,
}
export const DEFAULT_ATTEMPTS = 3
export const DEFAULT_TIMEOUT_MS = 60 * SECOND

/**
 * The wait in ms after the `failures`-th failed attempt (counted from 1): what the policy says, with its
 * last `jitter` part drawn evenly. `random` is in [0, 1).
 */
export function retryDelayMs(backoff: Backoff, failures: number, random: number): number {
  return Math.round(fullDelayMs(backoff, Math.max(1, failures)) * (1 - backoff.jitter * random))
}

function fullDelayMs(backoff: Backoff, failures: number): number {
  switch (backoff.type) {
    case 'exponential':
      return Math.min(backoff.delayMs * 2 ** Math.min(failures - 1, 50), backoff.maxDelayMs)
    case 'fixed':
      return backoff.delayMs
    case 'list':
      return backoff.delaysMs[Math.min(failures, backoff.delaysMs.length) - 1] ?? 0
  }
}
