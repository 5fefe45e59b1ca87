import { jitterMs, type RunFact, tickRunId } from '@jadwal/domain'
import { type PlannedRun, runMessageOptions } from '@jadwal/queue'
import type { Subject } from './plan-context.ts'

/** The run that a tick gets: its message and, but for its state, its fact. */
export function plannedRun(tickAtMs: number, { schedule, spec, context }: Subject): PlannedRun {
  const id = tickRunId(schedule.id, tickAtMs)
  const dueAtMs = tickAtMs + jitterMs(schedule.id, spec)
  const delayMs = Math.max(0, dueAtMs - context.nowMs)
  const tickAt = new Date(tickAtMs).toISOString()
  const lateAt =
    spec.lateAfter === undefined ? undefined : new Date(dueAtMs + spec.lateAfter).toISOString()
  const fact = {
    id,
    job: spec.job,
    queue: context.queue,
    schedule_id: schedule.id,
    schedule: schedule.name,
    tick_at: tickAt,
    term: context.term,
    late_due_at: lateAt ?? null,
    payload: spec.payload,
    labels: spec.labels ?? null,
    priority: spec.priority ?? 0,
    enqueued_at: context.nowIso,
    run_at: delayMs > 0 ? new Date(context.nowMs + delayMs).toISOString() : null,
    attempt: 0,
  } satisfies Partial<RunFact>
  return {
    id,
    job: spec.job,
    tickAtMs,
    dueAtMs,
    overlap: spec.overlap,
    message: {
      v: 1,
      payload: spec.payload,
      schedule: {
        id: schedule.id,
        name: schedule.name,
        tickAt,
        term: context.term,
        ...(lateAt === undefined ? {} : { lateAt }),
      },
      ...(spec.labels ? { labels: spec.labels } : {}),
      ...(spec.attempts === undefined ? {} : { attempts: spec.attempts }),
      ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
    },
    options: runMessageOptions({
      enqueuedAtMs: context.nowMs,
      delayMs,
      priority: spec.priority ?? 0,
    }),
    fact: JSON.stringify(fact).slice(1),
  }
}
