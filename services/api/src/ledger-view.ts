import { jitterMs, ownReason, type Pause, type ScheduleId } from '@jadwal/domain'
import type { LedgerPage, LedgerTick } from './ledger-page.ts'
import type { TickAnswer } from './tick-schema.ts'

export interface LedgerContext {
  scheduleId: ScheduleId
  pauses: readonly Pause[]
  backfills: LedgerPage['backfills']
}

/** A tick of the ledger as the api shows it. What is absent is not there. */
export function ledgerView(
  entry: LedgerTick,
  { scheduleId, pauses, backfills }: LedgerContext,
): TickAnswer {
  const { tickAtMs, verdict, expected, row } = entry
  const again = backfills.get(tickAtMs) ?? []
  return {
    tickAt: iso(tickAtMs),
    verdict,
    ...reason(entry, pauses),
    ...(expected ? { version: expected.version.version } : { unexpected: true }),
    ...(verdict === 'fired' && row ? firedView(entry, scheduleId) : {}),
    ...(row?.run.late_at ? { late: true, lateAt: row.run.late_at.toISOString() } : {}),
    ...(row?.untilMs === undefined ? {} : { range: rangeView(row) }),
    ...(again.length === 0
      ? {}
      : { backfills: again.map(({ id, state, backfillId }) => ({ id, state, backfillId })) }),
  }
}

/** Of a tick that lies ahead: why it will be skipped, if nobody changes anything. */
function reason({ tickAtMs, verdict, expected, row }: LedgerTick, pauses: readonly Pause[]) {
  if (verdict === 'skipped') return row?.run.reason == null ? {} : { reason: row.run.reason }
  if (verdict !== 'upcoming' || !expected) return {}
  const own = ownReason(expected.version, pauses)?.(tickAtMs)
  return own === undefined ? {} : { reason: own }
}

function firedView({ tickAtMs, expected, row }: LedgerTick, scheduleId: ScheduleId) {
  if (!row) return {}
  const { run } = row
  const waitMs = expected ? jitterMs(scheduleId, expected.version.spec) : 0
  return {
    // What a run waits for its jitter is no lateness, and neither is what that wait makes up for.
    latenessMs: Math.max(0, run.enqueued_at.getTime() - tickAtMs - waitMs),
    run: {
      id: run.id,
      state: run.state,
      ...(run.reason === null ? {} : { reason: run.reason }),
      startedAt: run.started_at?.toISOString() ?? null,
      finishedAt: run.finished_at?.toISOString() ?? null,
      term: run.term,
    },
  }
}

function rangeView({ tickAtMs, untilMs = tickAtMs, run }: NonNullable<LedgerTick['row']>) {
  return { from: iso(tickAtMs), until: iso(untilMs), ticks: run.tick_count }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
