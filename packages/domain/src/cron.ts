import { CronError } from './cron-field.ts'
import { type CronFields, readCronFields } from './cron-fields.ts'
import { createWallClock, type WallClock } from './cron-wall-clock.ts'

/** A cron expression that is right and fires some day. */
export interface Cron {
  fields: CronFields
  wallClock: WallClock
}

/** Expressions are parsed once: 100,000 schedules share a few hundred of them. */
const KEPT = 10_000
const parsed = new Map<string, Cron | CronError>()

/** Parses an expression; throws CronError, whose message is that of `cronProblem`. */
export function parseCron(expression: string): Cron {
  const known = parsed.get(expression) ?? remember(expression, read(expression))
  if (known instanceof CronError) throw known
  return known
}

/** What is wrong with a cron expression, in words that name field, value and what is allowed; undefined when nothing is. */
export function cronProblem(expression: string): string | undefined {
  const known = parsed.get(expression) ?? remember(expression, read(expression))
  return known instanceof CronError ? known.message : undefined
}

function read(expression: string): Cron | CronError {
  try {
    const fields = readCronFields(expression)
    const wallClock = createWallClock(fields)
    return wallClock.next(0) === undefined ? neverFires(expression) : { fields, wallClock }
  } catch (error) {
    if (error instanceof CronError) return error
    throw error
  }
}

function neverFires(expression: string): CronError {
  const [day = '', month = '', weekday = ''] = expression.trim().split(/\s+/).slice(-3)
  const on = weekday.startsWith('*') || weekday === '?' ? '' : ` on weekday "${weekday}"`
  return new CronError(`never fires: there is no day "${day}" in month "${month}"${on}`)
}

function remember(expression: string, cron: Cron | CronError): Cron | CronError {
  if (parsed.size >= KEPT) parsed.clear()
  parsed.set(expression, cron)
  return cron
}
