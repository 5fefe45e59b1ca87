import type { Logger } from './logger.ts'

const EACH_MS = 10_000

/**
 * For errors that come in storms, such as those of a connection: the first is logged at once, then one
 * line each 10 s tells how many there were. After 10 quiet seconds the next is a first one again.
 */
export function rateLimitedErrors(log: Logger, sentence: string): (error: unknown) => void {
  const warn = rateLimitedWarnings(log, sentence)
  return (error) => warn({ err: error })
}

/** The same for whatever else comes in storms; the line of a storm has the facts of its last warning. */
export function rateLimitedWarnings(log: Logger, sentence: string): (facts: object) => void {
  let timer: NodeJS.Timeout | undefined
  let count = 0
  let last: object = {}

  const report = (): void => {
    timer = undefined
    if (count === 0) return
    log.warn({ ...last, count, withinMs: EACH_MS }, sentence)
    count = 0
    timer = setTimeout(report, EACH_MS).unref()
  }
  return (facts) => {
    if (timer) {
      count += 1
      last = facts
      return
    }
    log.warn(facts, sentence)
    timer = setTimeout(report, EACH_MS).unref()
  }
}
