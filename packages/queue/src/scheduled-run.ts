import {
  keptPayload,
  type PayloadRules,
  type RunFact,
  type RunId,
  type RunMessage,
  type ScheduleSpec,
} from '@jadwal/domain'
import type { JobsOptions } from 'bullmq'
import { factLine, instant, scheduleFacts } from './run-fact.ts'
import type { PayloadCipher } from './payload-cipher.ts'
import { runMessageOptions } from './run-message.ts'
import { sentPayload } from './sent-payload.ts'

/** A run that a schedule brings about: by a tick, by a backfill or by hand. */
export interface ScheduledRunRequest {
  id: RunId
  queue: string
  schedule: NonNullable<RunMessage['schedule']>
  spec: Pick<ScheduleSpec, 'job' | 'labels' | 'attempts' | 'timeoutMs' | 'priority'>
  payload: unknown
  /** What its job says of its payloads; nothing of them is recorded when that is not known. */
  rules: PayloadRules | undefined
  cipher?: PayloadCipher | undefined
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

/** Throws `MissingKeyError`. */
export function scheduledRun(request: ScheduledRunRequest): ScheduledRun {
  const { id, queue, schedule, spec, rules, cipher, enqueuedAtMs, delayMs = 0 } = request
  const priority = spec.priority ?? 0
  const message: RunMessage = {
    v: 1,
    ...sentPayload(request.payload, { id, job: { ...rules, name: spec.job } }, cipher),
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
    ...keptPayload(message, rules),
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
