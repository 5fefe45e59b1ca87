import { DAY } from './clock.ts'

/**
 * How far ahead a run may be enqueued, in ms: 5 years. BullMQ keeps a due instant as ms * 4096 in a double,
 * which is exact until September 2039.
 */
const LONGEST_DELAY_MS = 5 * 366 * DAY

/** What is wrong with a delay in ms; undefined when nothing is. */
export function delayProblem(delayMs: number): string | undefined {
  if (delayMs <= LONGEST_DELAY_MS) return undefined
  return `must be at most ${LONGEST_DELAY_MS} (5 years)`
}

/** What is wrong with the instant at which a run is to be due, ms since the epoch; undefined when nothing is. */
export function runAtProblem(runAtMs: number, nowMs: number): string | undefined {
  return runAtMs - nowMs <= LONGEST_DELAY_MS ? undefined : 'must be within 5 years'
}
