import type { JobsOptions } from 'bullmq'

/** BullMQ must never give a run up by itself: the worker counts attempts and says when a run is dead. */
const NEVER_BY_ITSELF = 1_000_000

export interface RunMessageOptions {
  /** When the run was asked for, ms since the epoch. */
  enqueuedAtMs: number
  /** How long after that it may start. */
  delayMs?: number
  /** 0 first … 1000 last. */
  priority?: number
}

/**
 * The BullMQ options of every run's message; each costs memory and time in every message. That ended
 * ones go at once, since the history is in Postgres, is an option of the worker.
 */
export function runMessageOptions(options: RunMessageOptions): JobsOptions {
  const { enqueuedAtMs, delayMs = 0, priority = 0 } = options
  return {
    timestamp: enqueuedAtMs,
    attempts: NEVER_BY_ITSELF,
    backoff: { type: 'jadwal' },
    stackTraceLimit: 5,
    ...(delayMs > 0 ? { delay: Math.round(delayMs) } : {}),
    ...(priority > 0 ? { priority } : {}),
  }
}
