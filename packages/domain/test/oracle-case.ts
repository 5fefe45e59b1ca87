import { type Cadence, cronProblem, DAY, HOUR, nextTick } from '@jadwal/domain'
import fc from 'fast-check'
import type { ClockChange } from './clock-change.ts'
import { hasDay, oracleTicks, type RealClock, readRealClock, type Rule } from './real-clock.ts'
import { writtenCron, type WrittenCron, writtenCronOfSeconds } from './written-cron.ts'

/** An expression, the rule for clock changes, and the time, (afterMs, untilMs), to find its ticks in. */
export interface OracleCase {
  timezone: string
  cron: WrittenCron
  rule: Rule
  afterMs: number
  untilMs: number
  /** From where to where the clock is read; it must know what it showed before `afterMs`. */
  clock: readonly number[]
}

const rule: fc.Arbitrary<Rule> = fc.record({
  gap: fc.constantFrom('shift' as const, 'skip' as const),
  fold: fc.constantFrom('once' as const, 'twice' as const),
})

/** Days of minutes around clock changes, begun at any instant. */
export function minuteCases(changes: readonly ClockChange[]): fc.Arbitrary<OracleCase> {
  return casesAround(changes, { cron: writtenCron, fromMs: -DAY, untilMs: 2 * DAY })
}

/** Hours of seconds around clock changes. */
export function secondCases(changes: readonly ClockChange[]): fc.Arbitrary<OracleCase> {
  return casesAround(changes, { cron: writtenCronOfSeconds, fromMs: -2 * HOUR, untilMs: 3 * HOUR })
}

/** A whole year in one zone, for what comes seldom. */
export function yearCases(timezone: string, year: number): fc.Arbitrary<OracleCase> {
  const [afterMs, untilMs] = [Date.UTC(year), Date.UTC(year + 1)]
  return fc.record({
    timezone: fc.constant(timezone),
    cron: writtenCron,
    rule,
    afterMs: fc.constant(afterMs),
    untilMs: fc.constant(untilMs),
    clock: fc.constant([afterMs - DAY, untilMs]),
  })
}

/** Where nextTick and the oracle part, in words; undefined when they agree. */
export function difference({ timezone, cron, rule: { gap, fold }, ...span }: OracleCase) {
  const { expression } = cron
  const problem = cronProblem(expression)
  if (problem !== undefined)
    return problem.startsWith('never fires: ') && !hasDay(cron) ? undefined : problem
  const expected = oracleTicks(readClock(timezone, span.clock), { cron, rule: { gap, fold } }, span)
  const cadence: Cadence = { kind: 'cron', expression, timezone, gap, fold }
  let tick = nextTick(cadence, span.afterMs) ?? Infinity
  for (const right of [...expected, Infinity]) {
    if (right === Infinity && tick >= span.untilMs) return undefined
    if (tick !== right) return `${iso(tick)} instead of ${iso(right)}`
    tick = nextTick(cadence, tick) ?? Infinity
  }
  return undefined
}

function casesAround(
  changes: readonly ClockChange[],
  { cron, fromMs, untilMs }: { cron: fc.Arbitrary<WrittenCron>; fromMs: number; untilMs: number },
): fc.Arbitrary<OracleCase> {
  return fc.constantFrom(...changes).chain(({ timezone, atMs }) =>
    fc.record({
      timezone: fc.constant(timezone),
      cron,
      rule,
      afterMs: fc.integer({ min: atMs + fromMs, max: atMs + HOUR }),
      untilMs: fc.constant(atMs + untilMs),
      clock: fc.constant([atMs + fromMs - DAY, atMs + untilMs]),
    }),
  )
}

const KEPT = 300
const clocks = new Map<string, RealClock>()

/** The clock of a zone; read once, unless there are too many to keep. */
function readClock(timezone: string, [fromMs = 0, untilMs = 0]: readonly number[]): RealClock {
  const key = `${timezone} ${fromMs} ${untilMs}`
  const clock = clocks.get(key) ?? readRealClock(timezone, fromMs, untilMs)
  if (clocks.size >= KEPT) clocks.clear()
  clocks.set(key, clock)
  return clock
}

function iso(atMs: number): string {
  return atMs === Infinity ? 'none' : new Date(atMs).toISOString()
}
