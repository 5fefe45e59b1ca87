import { rowMessage, type RunRow } from '@jadwal/db'
import {
  fingerprint,
  isRedacted,
  keptPayload,
  type PayloadRules,
  revision,
  type RunError,
  type RunFact,
  type RunMessage,
  type RunState,
  type ScheduleSpec,
} from '@jadwal/domain'
import { deadLetterFields, type LostRun, type RunToPutBack } from '@jadwal/queue'

const LACKS_VALUES =
  ', and the history lacks the values that its job redacts, so that it can not be made again'

/** Of a schedule, what holds for a run of it that is made again. */
type Spec = Pick<ScheduleSpec, 'overlap' | 'attempts' | 'timeoutMs'>

/**
 * The end of a run whose message is gone, with its dead letter, which has of its payload what the row
 * has. `rules` is what its job says of its payloads.
 */
export function endOfLost(
  row: RunRow,
  { nowIso, rules }: { nowIso: string; rules: PayloadRules | undefined },
): LostRun {
  const lacks = isRedacted(row.payload) ? LACKS_VALUES : ''
  const error: RunError = {
    name: 'LostRunError',
    message: `Redis no longer had the message of this run${lacks}`,
  }
  const fact = factOf(row, rules, {
    state: 'dead',
    finished_at: nowIso,
    error,
    fingerprint: fingerprint(row.job, error),
    ...(row.state === 'running' ? { attempt_state: 'lost', attempt_finished_at: nowIso } : {}),
  })
  const letter = deadLetterFields({
    job: row.job,
    data: rowMessage(row),
    enqueuedAtMs: row.enqueued_at.getTime(),
    failures: row.attempt,
    priority: row.priority ?? 0,
    death: { reason: 'lost', error, attempt: row.attempt, at: nowIso },
  })
  return { id: row.id, queue: row.queue, fact, leaves: ownerOf(row), letter }
}

/**
 * A run whose message is gone, as it goes back into its queue. The history does not keep what an app
 * asked for beside the payload: attempts and timeout are those of its schedule (`spec`) or its job.
 */
export function returnOfLost(
  row: RunRow,
  {
    failures,
    spec,
    rules,
  }: { failures: number; spec: Spec | undefined; rules: PayloadRules | undefined },
): RunToPutBack {
  const enqueuedAtMs = row.enqueued_at.getTime()
  const dueAtMs = Math.max(enqueuedAtMs, row.run_at?.getTime() ?? 0)
  return {
    id: row.id,
    queue: row.queue,
    job: row.job,
    message: messageOf(row, spec),
    priority: row.priority ?? 0,
    enqueuedAtMs,
    dueAtMs,
    attempt: row.attempt,
    attemptEnded: row.state !== 'running',
    failures,
    owner: ownerOf(row),
    alone: row.backfill_id === null && spec !== undefined && spec.overlap !== 'allow',
    fact: JSON.stringify(factOf(row, rules, { state: 'queued', worker: null, started_at: null })),
  }
}

function ownerOf(row: RunRow): string {
  return row.backfill_id ?? row.schedule_id ?? ''
}

function messageOf(row: RunRow, spec: Spec | undefined): RunMessage {
  const message = rowMessage(row)
  if (message.schedule && row.late_due_at) message.schedule.lateAt = row.late_due_at.toISOString()
  if (spec?.attempts !== undefined) message.attempts = spec.attempts
  if (spec?.timeoutMs !== undefined) message.timeoutMs = spec.timeoutMs
  return message
}

function factOf(
  row: RunRow,
  rules: PayloadRules | undefined,
  more: Partial<RunFact> & { state: RunState },
): RunFact {
  // What was recorded under an older definition may have what the job redacts by now.
  const { payload, search = row.search } = keptPayload({ payload: row.payload }, rules ?? {})
  return {
    kind: 'run',
    id: row.id,
    revision: Math.max(revision(row.attempt, more.state), row.revision + 1),
    reason: 'lost',
    job: row.job,
    queue: row.queue,
    schedule_id: row.schedule_id,
    schedule: row.schedule,
    tick_at: iso(row.tick_at),
    term: row.term,
    payload,
    search,
    labels: row.labels,
    priority: row.priority,
    enqueued_at: row.enqueued_at.toISOString(),
    run_at: iso(row.run_at),
    attempt: row.attempt,
    worker: row.worker,
    started_at: iso(row.started_at),
    result: null,
    redrive_of: row.redrive_of,
    parent_id: row.parent_id,
    idempotency_key: row.idempotency_key,
    concurrency_key: row.concurrency_key,
    backfill_id: row.backfill_id,
    late_due_at: iso(row.late_due_at),
    ...more,
  }
}

function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null
}
