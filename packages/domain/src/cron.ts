import { readEvery } from './cron-every.ts'
import { CronError, quoted } from './cron-field.ts'
import { type CronFields, readCronFields } from './cron-fields.ts'
import { createWallClock, type WallClock } from './cron-wall-clock.ts'

/** A cron expression that is right and fires some day. */
export type Cron = CronTimes | CronEvery

/** Names wall times. */
export interface CronTimes {
  everyMs?: undefined
  fields: CronFields
  wallClock: WallClock
}

/** `@every 90s`: an interval, whatever the clock shows. */
export interface CronEvery {
  everyMs: number
}

/** Every number of every field, written out, takes less. */
const LONGEST = 1_000

/** Expressions are parsed once: 100,000 schedules share a few hundred of them. */
const KEPT = 10_000
const parsed = new Map<string, Cron | CronError>()

/** Parses an expression; throws CronError, whose message is that of `cronProblem`. */
export function parseCron(expression: string): Cron {
  const known = lookUp(expression)
  if (known instanceof CronError) throw known
  return known
}

/** What is wrong with a cron expression, in words that name field, value and what is allowed; undefined when nothing is. */
export function cronProblem(expression: string): string | undefined {
  const known = lookUp(expression)
  return known instanceof CronError ? known.message : undefined
}

function lookUp(expression: string): Cron | CronError {
  return parsed.get(expression) ?? remember(expression, read(expression))
}

function read(expression: string): Cron | CronError {
  try {
    if (expression.length > LONGEST) throw tooLong(expression)
    const everyMs = readEvery(expression)
    if (everyMs !== undefined) return { everyMs }
    const fields = readCronFields(expression)
    const wallClock = createWallClock(fields)
    return wallClock.next(0) === undefined ? neverFires(expression) : { fields, wallClock }
  } catch (error) {
    if (error instanceof CronError) return error
    throw error
  }
}

function tooLong(expression: string): CronError {
  const { length } = expression
  return new CronError(
    `${quoted(expression)} has ${length} characters; at most ${LONGEST} are allowed`,
  )
}

function neverFires(expression: string): CronError {
  const [day = '', month = '', weekday = ''] = expression.trim().split(/\s+/).slice(-3)
  const on = weekday.startsWith('*') || weekday === '?' ? '' : ` on weekday ${quoted(weekday)}`
  return new CronError(`never fires: there is no day ${quoted(day)} in month ${quoted(month)}${on}`)
}

function remember(expression: string, cron: Cron | CronError): Cron | CronError {
  if (expression.length > LONGEST) return cron
  if (parsed.size >= KEPT) parsed.clear()
  parsed.set(expression, cron)
  return cron
}
