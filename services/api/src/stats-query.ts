import { STATS_KEPT_MS, STATS_STEPS, type StatsStep, STEP_MS } from '@jadwal/db'
import { DAY, HOUR, parseDurationMs } from '@jadwal/domain'
import { z } from 'zod'
import { fieldProblem } from './problem.ts'
import { Instant, Name } from './run-query.ts'
import { parseRequest } from './zod-problem.ts'

/** Points of one series. */
const MOST_POINTS = 3_000
const LONGEST_DAYS = 3_650
const WINDOW_RULE = 'must be a duration such as 1h, 24h or 7d, of 3650 days at most'

/** The query of `GET /stats`. */
export const StatsRequest = z.strictObject({
  window: z
    .string('must be given once')
    .refine(isWindow, WINDOW_RULE)
    .meta({ default: '1h', examples: ['24h'] })
    .describe('How far back from `to`: `1h`, `24h`, `7d` …; not together with `from`.')
    .optional(),
  from: Instant.describe('Moved back to the beginning of its step.').optional(),
  to: Instant.describe('Exclusive; moved on to the end of its step. Now when left out.').optional(),
  job: Name.optional(),
  queue: Name.optional(),
  schedule: Name.describe('Name of a schedule, deleted ones too.').optional(),
  step: z
    .enum(['auto', ...STATS_STEPS], `must be one of auto, ${STATS_STEPS.join(', ')}`)
    .default('auto')
    .describe(
      'The length of one point of the series. `auto`: minutes up to 3 hours, hours up to 7 days, else days; a longer step where the shorter is not kept any more.',
    ),
})

export interface StatsRange {
  from: Date
  to: Date
  step: StatsStep
  job?: string
  queue?: string
  /** Its name. */
  schedule?: string
}

/** The query of `GET /stats`. Throws a `Problem` that names every bad field. */
export function readStatsQuery(query: unknown, now: Date): StatsRange {
  const { window, from, to, step, ...names } = parseRequest(StatsRequest, query, 'query')
  if (window !== undefined && from)
    throw fieldProblem('bad-request', 'window', 'and from are both given: one of them says enough')
  const until = to ?? now
  const begin = from ?? new Date(until.getTime() - (parseDurationMs(window ?? '1h') ?? HOUR))
  if (begin >= until)
    throw fieldProblem('bad-request', 'to', 'must be after from; from is included, to is not')
  const given = Object.fromEntries(
    Object.entries(names).filter(([, value]) => value !== undefined),
  ) as Pick<StatsRange, 'job' | 'queue' | 'schedule'>
  const range = { from: begin, to: until, ...given }
  const spanMs = until.getTime() - begin.getTime()
  if (spanMs > LONGEST_DAYS * DAY)
    throw fieldProblem('bad-request', 'from', 'must be within 3650 days of to')
  const ageMs = now.getTime() - begin.getTime()
  if (step === 'auto') return { ...range, step: autoStep(spanMs, ageMs) }
  if (step !== 'day' && ageMs > STATS_KEPT_MS[step])
    throw fieldProblem(
      'bad-request',
      'step',
      `must be longer for so long ago: ${step}s are kept for ${STATS_KEPT_MS[step] / DAY} days`,
    )
  if (spanMs / STEP_MS[step] > MOST_POINTS)
    throw fieldProblem(
      'bad-request',
      'step',
      `must be longer: the time has more than ${MOST_POINTS} ${step}s`,
    )
  return { ...range, step }
}

function autoStep(spanMs: number, ageMs: number): StatsStep {
  if (spanMs <= 3 * HOUR && ageMs <= STATS_KEPT_MS.minute) return 'minute'
  return spanMs <= 7 * DAY && ageMs <= STATS_KEPT_MS.hour ? 'hour' : 'day'
}

function isWindow(text: string): boolean {
  const ms = parseDurationMs(text) ?? 0
  return ms > 0 && ms <= LONGEST_DAYS * DAY
}
