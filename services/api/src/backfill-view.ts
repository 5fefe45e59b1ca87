import type { NamedBackfill } from '@jadwal/db'
import type { RunState } from '@jadwal/domain'
import type { BackfillAnswer } from './backfill-schema.ts'

/** A backfill as the api shows it, with its runs by state where they were counted. */
export function backfillView(
  backfill: NamedBackfill,
  runs?: Partial<Record<RunState, number>>,
): BackfillAnswer {
  const { id, schedule, state, all_ticks, rate, concurrency, problem, author } = backfill
  return {
    id,
    schedule,
    state,
    from: backfill.from_at.toISOString(),
    to: backfill.until_at.toISOString(),
    all: all_ticks,
    rate,
    concurrency,
    ticks: backfill.ticks,
    /** Passed over, as they had a success or an unfinished run. */
    skipped: backfill.skipped,
    enqueued: backfill.enqueued,
    position: backfill.position_at?.toISOString() ?? null,
    ...(runs ? { runs } : {}),
    ...(problem === null ? {} : { problem }),
    author,
    createdAt: backfill.created_at.toISOString(),
    finishedAt: backfill.finished_at?.toISOString() ?? null,
  }
}
