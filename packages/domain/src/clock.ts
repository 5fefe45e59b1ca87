/** The one way to ask for the time. Tests hand in a clock that they move by hand. */
export interface Clock {
  /** Wall-clock time. */
  now(): Date
  /** Milliseconds that only ever grow; for measuring durations and trust windows. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
}

export const MILLISECOND = 1
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
