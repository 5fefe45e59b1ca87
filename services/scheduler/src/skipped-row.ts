import {
  DAY,
  keptPayload,
  revision,
  type RunFact,
  skippedRowId,
  type SkippedRange,
} from '@jadwal/domain'
import { sentPayload } from '@jadwal/queue'
import type { SkippedRow, Subject } from './plan-context.ts'

/**
 * The row that skipped ticks go into: the one before, if they follow on it for the same reason within
 * a day, else one of their own. So a long pause of a dense schedule is a row a day, however often it
 * is looked at. In shadow mode each look has a row of its own: what would have run is worth seeing.
 * The day is what retention goes by: a row may not outlive, or die before, its ticks by more.
 */
export function extended(before: SkippedRow | undefined, next: SkippedRange): SkippedRow {
  const { reason, tickAtMs, untilMs, count } = next
  if (
    !before ||
    before.reason !== reason ||
    reason === 'shadow' ||
    untilMs - before.tickAtMs >= DAY
  )
    return { reason, tickAtMs, untilMs, count }
  return { ...before, untilMs, count: before.count + count }
}

/** The row's fact. Each that extends it has a higher revision than the one before. Throws `MissingKeyError`. */
export function skipFact(row: SkippedRow, { schedule, spec, context }: Subject): string {
  const isRange = row.count > 1
  const id = skippedRowId(schedule.id, row.tickAtMs)
  const rules = context.jobOf(spec.job)
  const sent = sentPayload(spec.payload, { id, job: { ...rules, name: spec.job } }, context.cipher)
  const fact: RunFact = {
    kind: 'run',
    id,
    revision: revision(0, 'skipped') + row.count - 1,
    state: 'skipped',
    reason: row.reason,
    job: spec.job,
    queue: context.queue,
    schedule_id: schedule.id,
    schedule: schedule.name,
    tick_at: new Date(row.tickAtMs).toISOString(),
    tick_until: isRange ? new Date(row.untilMs).toISOString() : null,
    tick_count: isRange ? row.count : null,
    term: context.term,
    ...keptPayload(sent, rules),
    result: null,
    labels: spec.labels ?? null,
    priority: spec.priority ?? 0,
    enqueued_at: context.nowIso,
    finished_at: context.nowIso,
    attempt: 0,
  }
  return JSON.stringify(fact)
}
