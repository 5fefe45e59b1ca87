import type { ExpectedTick } from './expected-ticks.ts'

export const TICK_VERDICTS = [
  'fired', // it got a run
  'skipped', // it got none, for a reason
  'pending', // it is due, and the history does not have it yet
  'upcoming', // it lies ahead
  'expired', // the history of its day is no longer kept
] as const
export type TickVerdict = (typeof TICK_VERDICTS)[number]

/** What the history has of one tick, or of the ticks from one to another that share their reason. */
export interface TickRow {
  tickAtMs: number
  /** The last tick of a range. */
  untilMs?: number
  isSkipped: boolean
}

export interface LedgerEntry<Row extends TickRow> {
  tickAtMs: number
  verdict: TickVerdict
  /** Absent on an entry that is `unexpected`. */
  expected?: ExpectedTick
  row?: Row
}

/** The time of the ledger, and where the history begins. */
export interface LedgerTime {
  nowMs: number
  historyFromMs: number
}

/**
 * The ledger: an entry for every expected tick, with what the history has of it, and one for every
 * row of a tick that nobody expected. Both lists have the oldest first. A row that began before the
 * first expected tick only tells of the expected ones that it reaches.
 */
export function tickLedger<Row extends TickRow>(
  expected: readonly ExpectedTick[],
  rows: readonly Row[],
  time: LedgerTime,
): LedgerEntry<Row>[] {
  const entries: LedgerEntry<Row>[] = []
  let range: Row | undefined
  let at = 0
  for (const tick of expected) {
    let own: Row | undefined
    for (; at < rows.length; at += 1) {
      const row = rows[at]
      if (!row || row.tickAtMs > tick.tickAtMs) break
      if (row.tickAtMs === tick.tickAtMs) own = row
      else if (!reaches(row, tick.tickAtMs)) entries.push(unexpected(row))
      if (row.untilMs !== undefined) range = row
    }
    const row = own ?? (range && reaches(range, tick.tickAtMs) ? range : undefined)
    const { tickAtMs } = tick
    const verdict = row ? verdictOf(row) : verdictWithoutRow(tickAtMs, time)
    entries.push({ tickAtMs, verdict, expected: tick, ...(row ? { row } : {}) })
  }
  return [...entries, ...rows.slice(at).map(unexpected)]
}

function reaches(row: TickRow, tickAtMs: number): boolean {
  return row.untilMs !== undefined && row.tickAtMs <= tickAtMs && tickAtMs <= row.untilMs
}

function unexpected<Row extends TickRow>(row: Row): LedgerEntry<Row> {
  return { tickAtMs: row.tickAtMs, verdict: verdictOf(row), row }
}

function verdictOf(row: TickRow): TickVerdict {
  return row.isSkipped ? 'skipped' : 'fired'
}

function verdictWithoutRow(tickAtMs: number, { nowMs, historyFromMs }: LedgerTime): TickVerdict {
  if (tickAtMs > nowMs) return 'upcoming'
  return tickAtMs < historyFromMs ? 'expired' : 'pending'
}
