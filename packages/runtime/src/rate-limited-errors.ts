import type { Logger } from './logger.ts'

const EACH_MS = 10_000

/**
 * For errors that come in storms, such as those of a connection: the first is logged at once, then one
 * line each 10 s tells how many there were. After 10 quiet seconds the next is a first one again.
 */
export function rateLimitedErrors(log: Logger, sentence: string): (error: unknown) => void {
  let timer: NodeJS.Timeout | undefined
  let count = 0
  let last: unknown

  const report = (): void => {
    timer = undefined
    if (count === 0) return
    log.warn({ err: last, count, withinMs: EACH_MS }, sentence)
    count = 0
    timer = setTimeout(report, EACH_MS).unref()
  }
  return (error) => {
    if (timer) {
      count += 1
      last = error
      return
    }
    log.warn({ err: error }, sentence)
    timer = setTimeout(report, EACH_MS).unref()
  }
}
