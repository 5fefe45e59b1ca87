/** The time as the process knows it. Of the same form as the domain's `Clock`, which this package does not know. */
export interface ProcessClock {
  now(): Date
  /** Milliseconds that only ever grow. */
  monotonicMs(): number
}

export const processClock: ProcessClock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
}
