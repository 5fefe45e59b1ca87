import {
  type Expectation,
  type ExpectedSchedule,
  type ExpectedTick,
  expectedTicks,
} from './expected-schedule.ts'
import { grouped, type HistoryRow, shortened, tickName } from './history.ts'

/**
 * The ledger checker, for the history: from schedules, a period and the rows it tells what is wrong.
 * It knows nothing of the product's code.
 */
export interface HistoryReport {
  /** How many ticks had to be there. */
  expected: number
  /** Expected, and in no row. */
  missing: string[]
  /** In more rows than one. */
  doubled: string[]
  /** A row of a tick that the schedule does not have. */
  unexpected: string[]
  /** Decided or started before its instant. */
  early: string[]
  /** Decided later after its instant than the caller allows. */
  late: string[]
  /** A range whose count is not the number of ticks in it. */
  miscounted: string[]
  /** Paused and not to be, or the other way round. */
  wronglyPaused: string[]
}

export interface HistoryBounds {
  /** Ticks up to this instant are expected. */
  untilMs: number
  /** How long after its instant a tick may be decided. Default: for ever. */
  lateMs?: number
  /** Of ticks after this instant. Default: of all. */
  lateFromMs?: number
  /** How long a change may take to be heard of. Default: not at all. */
  reachMs?: number
}

export function checkHistory(
  schedules: readonly ExpectedSchedule[],
  rows: readonly HistoryRow[],
  bounds: HistoryBounds,
): HistoryReport {
  const report: HistoryReport = {
    expected: 0,
    missing: [],
    doubled: [],
    unexpected: [],
    early: [],
    late: [],
    miscounted: [],
    wronglyPaused: [],
  }
  const bySchedule = grouped(rows.filter(isTick), ({ schedule_id }) => schedule_id)
  for (const schedule of schedules) {
    const own = bySchedule.get(schedule.id) ?? []
    checkSchedule({ report, schedule, bounds }, own)
    bySchedule.delete(schedule.id)
  }
  for (const strangers of bySchedule.values())
    report.unexpected.push(
      ...strangers.map((row) => tickName(row.schedule_id, row.tick_at.getTime())),
    )
  const { expected, ...findings } = report
  const short = Object.entries(findings).map(([kind, names]) => [kind, shortened(names)])
  return { expected, ...(Object.fromEntries(short) as typeof findings) }
}

type TickRow = HistoryRow & { schedule_id: string; tick_at: Date }

/** Runs of backfills, redriven ones and those made by hand are no ticks. */
function isTick(row: HistoryRow): row is TickRow {
  const { schedule_id, tick_at, backfill_id, redrive_of = null } = row
  return schedule_id !== null && tick_at !== null && backfill_id === null && redrive_of === null
}

interface Checking {
  report: HistoryReport
  schedule: ExpectedSchedule
  bounds: HistoryBounds
}

function checkSchedule(checking: Checking, rows: readonly TickRow[]): void {
  const { report, schedule, bounds } = checking
  // A range may reach beyond the period; what begins beyond it is left alone.
  const own = rows.filter(({ tick_at }) => tick_at.getTime() <= bounds.untilMs)
  const lastMs = Math.max(bounds.untilMs, ...own.map(endMs))
  const expectation = expectedTicks(schedule, lastMs, bounds.reachMs)
  const times = new Map<number, number>()
  for (const row of own) {
    checkTimes(checking, row)
    for (const tick of ticksOf(checking, row, expectation)) {
      times.set(tick.atMs, (times.get(tick.atMs) ?? 0) + 1)
      checkPaused(checking, row, tick)
    }
  }
  for (const { atMs, loose } of expectation.ticks.values()) {
    if (atMs > bounds.untilMs || loose) continue
    report.expected += 1
    if (!times.has(atMs)) report.missing.push(tickName(schedule.id, atMs))
  }
  for (const [atMs, count] of times)
    if (count > 1) report.doubled.push(`${tickName(schedule.id, atMs)} ×${count}`)
}

function endMs({ tick_at, tick_until }: TickRow): number {
  return (tick_until ?? tick_at).getTime()
}

/** The expected ticks that a row stands for; what it stands for besides is reported. */
function ticksOf(
  { report, schedule }: Checking,
  row: TickRow,
  { ticks, extra }: Expectation,
): ExpectedTick[] {
  const find = (atMs: number): ExpectedTick | undefined => ticks.get(atMs) ?? extra.get(atMs)
  const [fromMs, untilMs] = [row.tick_at.getTime(), endMs(row)]
  for (const atMs of new Set([fromMs, untilMs]))
    if (!find(atMs)) report.unexpected.push(tickName(schedule.id, atMs))
  if (row.tick_until === null) {
    const tick = find(fromMs)
    return tick ? [tick] : []
  }
  const inside = [...ticks.values()].filter(({ atMs }) => fromMs <= atMs && atMs <= untilMs)
  const more = [...extra.keys()].filter((at) => fromMs <= at && at <= untilMs && !ticks.has(at))
  const least = inside.filter(({ loose }) => !loose).length
  const count = row.tick_count ?? 0
  if (row.state !== 'skipped' || count < least || count > inside.length + more.length)
    report.miscounted.push(
      `${tickName(schedule.id, fromMs)} … ${new Date(untilMs).toISOString()}: ${row.state}, ${count} of ${inside.length}`,
    )
  return inside
}

function checkTimes({ report, schedule, bounds }: Checking, row: TickRow): void {
  const { lateMs = Infinity, lateFromMs = -Infinity } = bounds
  const atMs = row.tick_at.getTime()
  const decidedAtMs = row.enqueued_at.getTime()
  const startedAtMs = row.started_at?.getTime() ?? Infinity
  const name = tickName(schedule.id, atMs)
  // A range is written anew with each tick that it takes in.
  const earliest = Math.min(decidedAtMs, startedAtMs)
  if (earliest < endMs(row)) report.early.push(`${name} ${earliest - endMs(row)} ms`)
  if (row.tick_until === null && atMs > lateFromMs && decidedAtMs > atMs + lateMs)
    report.late.push(`${name} ${decidedAtMs - atMs} ms`)
}

function checkPaused({ report, schedule }: Checking, row: TickRow, tick: ExpectedTick): void {
  if (tick.loose || tick.paused === 'either') return
  const isPaused = row.state === 'skipped' && row.reason === 'paused'
  if (isPaused !== (tick.paused === 'yes'))
    report.wronglyPaused.push(`${tickName(schedule.id, tick.atMs)} ${row.state} ${row.reason}`)
}
