import { DAY, SECOND } from './clock.ts'
import { CronError, quoted } from './cron-field.ts'
import { parseDurationMs } from './duration.ts'

const LONGEST = 366 * DAY
const ALLOWED =
  'allowed are whole numbers with ms, s, m, h or d, 1s to 366d in all, for example "@every 90s" or "@every 1h30m"'

/**
 * The interval of `@every 90s` in ms, counted from the epoch like `every: 90s`; undefined when the
 * expression is something else. Throws CronError when it is meant but wrong.
 */
export function readEvery(expression: string): number | undefined {
  const [name = '', ...durations] = expression.trim().split(/\s+/, 3)
  if (name.toLowerCase() !== '@every') return undefined
  const [duration = ''] = durations
  const ms = durations.length === 1 ? sumMs(duration) : undefined
  if (ms === undefined) throw wrong(expression, 'no duration stands behind "@every"')
  if (ms < SECOND) throw wrong(expression, 'the interval is shorter than 1s')
  if (ms > LONGEST) throw wrong(expression, 'the interval is longer than 366d')
  return ms
}

/** The ms of `90s`, or of parts such as `1h30m`, as Go writes durations. */
function sumMs(duration: string): number | undefined {
  const parts = duration.match(/\d+[a-z]+/g) ?? []
  if (parts.join('') !== duration) return undefined
  let sum: number | undefined
  for (const part of parts) {
    const ms = parseDurationMs(part)
    if (ms === undefined) return undefined
    sum = (sum ?? 0) + ms
  }
  return sum
}

function wrong(expression: string, why: string): CronError {
  return new CronError(`${quoted(expression)}: ${why}; ${ALLOWED}`)
}
