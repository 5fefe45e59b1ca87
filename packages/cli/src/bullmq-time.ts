import { cronProblem, formatDuration, isTimezone } from '@jadwal/domain'
import type { Repeatable } from './bullmq-repeatable.ts'
import { cronParserStar, sameDays, starsForQuestionMarks } from './day-fields.ts'

export interface RepeatableTime {
  fields: Record<string, unknown>
  notes: string[]
  /** The zone was that of some process. */
  zoneAssumed: boolean
}

/** Names that cron-parser knows and Jadwal does not. */
const NICKNAMES: Record<string, string> = {
  '@minutely': '* * * * *',
  '@secondly': '* * * * * *',
  '@weekdays': '0 0 * * 1-5',
  '@weekends': '0 0 * * 0,6',
}

/** The cadence and the dates of a repeatable, for the schedule file; a text that says why when there is none. */
export function readRepeatableTime(from: Repeatable, timezone: string): RepeatableTime | string {
  const { pattern, everyMs, tz, startMs, endMs } = from
  const dates = {
    ...(startMs === undefined ? {} : { startsAt: isoOf(startMs) }),
    ...(endMs === undefined ? {} : { endsAt: isoOf(endMs) }),
  }
  if (pattern === undefined) {
    const interval = readInterval(from, everyMs ?? 0)
    if (typeof interval === 'string') return interval
    return { fields: { ...interval, ...dates }, notes: [], zoneAssumed: false }
  }
  if (tz !== undefined && !isTimezone(tz)) return `its zone "${tz}" is no IANA time zone`
  const { cron, notes } = readPattern(pattern)
  const problem = cronProblem(cron)
  if (problem !== undefined) return `pattern "${pattern}": ${problem}`
  const fields = { cron, timezone: tz ?? timezone, ...dates }
  return { fields, notes, zoneAssumed: tz === undefined }
}

/** The phase is that of the next run: BullMQ counts from whenever the repeatable was made. */
function readInterval(
  { nextMs, shiftMs }: Repeatable,
  everyMs: number,
): Record<string, unknown> | string {
  if (!Number.isSafeInteger(everyMs) || everyMs < 1)
    return `every ${everyMs}: is no whole number of milliseconds`
  const phase = (nextMs + shiftMs) % everyMs
  const offset = Number.isSafeInteger(phase) && phase > 0 ? { offset: formatDuration(phase) } : {}
  return { every: formatDuration(everyMs), ...offset }
}

const MOST_FIELDS = 6
/** What cron-parser puts before fields that are missing. */
const MISSING = ['0', '*', '*', '*', '*', '*']

function readPattern(pattern: string): { cron: string; notes: string[] } {
  const fields = (NICKNAMES[pattern] ?? pattern).trim().split(/\s+/)
  const isShort = fields.length < MOST_FIELDS - 1 && !pattern.startsWith('@')
  const whole = isShort ? [...MISSING.slice(0, MOST_FIELDS - fields.length), ...fields] : fields
  const written = starsForQuestionMarks(whole.join(' '))
  const cron = sameDays(written, cronParserStar)
  const short = `BullMQ reads "${pattern}", which has too few fields, as "${whole.join(' ')}"`
  const days = `BullMQ fires "${pattern}" when either day field matches (a "*" with a step is no "*" to it); Jadwal does so for "${cron}"`
  return {
    cron,
    notes: [...(isShort ? [short] : []), ...(cron === written ? [] : [days])],
  }
}

/** An instant beyond what dates can hold stays a number, which the schedule file refuses. */
function isoOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}
