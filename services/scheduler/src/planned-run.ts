import { jitterMs, tickRunId } from '@jadwal/domain'
import { type PlannedRun, scheduledRun } from '@jadwal/queue'
import type { Subject } from './plan-context.ts'

/** The run that a tick gets: its message and, but for its state, its fact. */
export function plannedRun(tickAtMs: number, { schedule, spec, context }: Subject): PlannedRun {
  const id = tickRunId(schedule.id, tickAtMs)
  const dueAtMs = tickAtMs + jitterMs(schedule.id, spec)
  const run = scheduledRun({
    id,
    queue: context.queue,
    schedule: {
      id: schedule.id,
      name: schedule.name,
      tickAt: new Date(tickAtMs).toISOString(),
      term: context.term,
      ...(spec.lateAfter === undefined
        ? {}
        : { lateAt: new Date(dueAtMs + spec.lateAfter).toISOString() }),
    },
    spec,
    payload: spec.payload,
    rules: context.jobOf(spec.job),
    cipher: context.cipher,
    enqueuedAtMs: context.nowMs,
    delayMs: Math.max(0, dueAtMs - context.nowMs),
  })
  return { ...run, id, job: spec.job, tickAtMs, dueAtMs, overlap: spec.overlap }
}
