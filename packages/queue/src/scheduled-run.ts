import type { RunFact, RunId, RunMessage, ScheduleSpec } from '@jadwal/domain'
import type { JobsOptions } from 'bullmq'
import { factLine, instant, scheduleFacts } from './run-fact.ts'
import { runMessageOptions } from './run-message.ts'

/** A run that a schedule brings about: by a tick, by a backfill or by hand. */
export interface ScheduledRunRequest {
  id: RunId
  queue: string
  schedule: NonNullable<RunMessage['schedule']>
  spec: Pick<ScheduleSpec, 'job' | 'labels' | 'attempts' | 'timeoutMs' | 'priority'>
  payload: unknown
  enqueuedAtMs: number
  /** How long after that it may start. */
  delayMs?: number
}

export interface ScheduledRun {
  message: RunMessage
  options: JobsOptions
  /** Its fact as JSON, from after its state on (`"id":…}`). */
  fact: string
}

export function scheduledRun(request: ScheduledRunRequest): ScheduledRun {
  const { id, queue, schedule, spec, payload, enqueuedAtMs, delayMs = 0 } = request
  const priority = spec.priority ?? 0
  const message: RunMessage = {
    v: 1,
    payload,
    schedule,
    ...(spec.labels ? { labels: spec.labels } : {}),
    ...(spec.attempts === undefined ? {} : { attempts: spec.attempts }),
    ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
  }
  const fact = {
    id,
    job: spec.job,
    queue,
    ...scheduleFacts(message),
    payload,
    labels: spec.labels,
    priority,
    enqueued_at: instant(enqueuedAtMs),
    run_at: delayMs > 0 ? instant(enqueuedAtMs + delayMs) : undefined,
    attempt: 0,
  } satisfies Partial<RunFact>
  return {
    message,
    options: runMessageOptions({ enqueuedAtMs, delayMs, priority }),
    fact: factLine(fact).slice(1),
  }
}
