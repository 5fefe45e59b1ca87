import type { Db } from '@jadwal/db'
import { type RunReason, TICK_VERDICTS, type TickVerdict } from '@jadwal/domain'
import { type LedgerPeriod, readLedgerPage } from './ledger-page.ts'

/** How many ticks of a period came to what. */
export interface LedgerSummary {
  ticks: number
  verdicts: Record<TickVerdict, number>
  /** Of those skipped. */
  reasons: Partial<Record<RunReason, number>>
  late: number
  unexpected: number
}

const PAGE = 1_900

/**
 * Counts the whole ledger of a period, page by page, so that it agrees with the pages whatever they
 * hold; undefined when there are more than `most` ticks.
 */
export async function summarizeLedger(
  db: Db,
  period: LedgerPeriod,
  most: number,
): Promise<LedgerSummary | undefined> {
  const summary: LedgerSummary = {
    ticks: 0,
    verdicts: Object.fromEntries(TICK_VERDICTS.map((verdict) => [verdict, 0])) as Record<
      TickVerdict,
      number
    >,
    reasons: {},
    late: 0,
    unexpected: 0,
  }
  let afterMs: number | undefined = period.afterMs
  while (afterMs !== undefined) {
    const page = await readLedgerPage(db, { ...period, afterMs }, PAGE)
    for (const { verdict, expected, row } of page.entries) {
      summary.ticks += 1
      summary.verdicts[verdict] += 1
      if (!expected) summary.unexpected += 1
      if (row?.run.late_at) summary.late += 1
      const reason = verdict === 'skipped' ? row?.run.reason : undefined
      if (reason) summary.reasons[reason] = (summary.reasons[reason] ?? 0) + 1
    }
    if (summary.ticks > most) return undefined
    afterMs = page.nextAfterMs
  }
  return summary
}
