import {
  type BackfilledRun,
  type Db,
  findHistoryStart,
  type LedgerRow,
  listBackfilledRuns,
  listTickRows,
  listVersionRules,
} from '@jadwal/db'
import {
  type ExpectedTick,
  expectedTicks,
  type LedgerEntry,
  type ScheduleId,
  tickLedger,
} from '@jadwal/domain'

export interface LedgerPeriod {
  scheduleId: ScheduleId
  /** Ticks strictly after this instant … */
  afterMs: number
  /** … up to this one, itself included. */
  untilMs: number
  nowMs: number
}

export type LedgerTick = LedgerEntry<{
  tickAtMs: number
  untilMs?: number
  isSkipped: boolean
  run: LedgerRow
}>

export interface LedgerPage {
  entries: LedgerTick[]
  /** What backfills made of its ticks, by tick. */
  backfills: ReadonlyMap<number, readonly BackfilledRun[]>
  /** The last tick of the page, when more follow. */
  nextAfterMs?: number
}

/**
 * One page of a schedule's ledger: at most `limit` expected ticks. Which ticks are expected follows
 * from the versions alone; the history only says what became of them. So a tick that nobody fired,
 * be it that nothing ran at its time, has its entry too.
 */
export async function readLedgerPage(
  db: Db,
  period: LedgerPeriod,
  limit: number,
): Promise<LedgerPage> {
  const { scheduleId, afterMs, nowMs } = period
  const walked = await walkTicks(db, period, limit + 1)
  const expected = walked.slice(0, limit)
  const last = expected.at(-1)
  const hasMore = walked.length > limit && last !== undefined
  const untilMs = hasMore ? last.tickAtMs : period.untilMs
  const span = { fromMs: afterMs + 1, untilMs }
  const ticks = expected.map(({ tickAtMs }) => tickAtMs)
  const [historyFromMs, rows, backfilled] = await Promise.all([
    findHistoryStart(db),
    listTickRows(db, scheduleId, { ...span, ticks }),
    listBackfilledRuns(db, scheduleId, span),
  ])
  return {
    entries: tickLedger(expected, rows.map(asTickRow), { nowMs, historyFromMs }),
    backfills: byTick(backfilled),
    ...(hasMore ? { nextAfterMs: last.tickAtMs } : {}),
  }
}

/** The first expected ticks of a period, however many versions it takes. */
async function walkTicks(
  db: Db,
  { scheduleId, ...period }: LedgerPeriod,
  count: number,
): Promise<ExpectedTick[]> {
  const ticks: ExpectedTick[] = []
  for await (const version of listVersionRules(db, scheduleId, period)) {
    for (const tick of expectedTicks([version], period)) {
      ticks.push(tick)
      if (ticks.length === count) return ticks
    }
  }
  return ticks
}

function asTickRow(run: LedgerRow) {
  return {
    tickAtMs: run.tick_at.getTime(),
    ...(run.tick_until ? { untilMs: run.tick_until.getTime() } : {}),
    isSkipped: run.state === 'skipped',
    run,
  }
}

function byTick(runs: readonly BackfilledRun[]): Map<number, BackfilledRun[]> {
  const map = new Map<number, BackfilledRun[]>()
  for (const run of runs) map.set(run.tickAtMs, [...(map.get(run.tickAtMs) ?? []), run])
  return map
}
