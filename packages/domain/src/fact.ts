import { z } from 'zod'
import { Role } from './role.ts'
import { AttemptState, RunError, RunReason, RunState } from './run.ts'

/**
 * Facts travel through the outbox as JSON, one a line. Their keys are the columns of the history
 * tables, so that Postgres reads them as they are (`json_to_recordset`). Times are ISO 8601 in UTC.
 * Absent and null are the same.
 */
const Instant = z.iso.datetime()

/** A line that a handler logged. */
export const LogLine = z.object({
  at: Instant,
  level: z.enum(['debug', 'info', 'warn', 'error']),
  message: z.string(),
  /** What it said beside the sentence. */
  facts: z.unknown().optional(),
})
export type LogLine = z.infer<typeof LogLine>

/** What happened to a run. The fact of an outcome is complete in itself. */
export const RunFact = z.object({
  kind: z.literal('run'),
  id: z.uuid(),
  revision: z.int(),
  state: RunState,
  reason: RunReason.nullish(),
  job: z.string(),
  queue: z.string(),
  schedule_id: z.uuid().nullish(),
  schedule: z.string().nullish(),
  tick_at: Instant.nullish(),
  /** Of a range of skipped ticks: its last tick, and how many there are. */
  tick_until: Instant.nullish(),
  tick_count: z.int().nullish(),
  term: z.int().nullish(),
  backfill_id: z.uuid().nullish(),
  /** When it is late, unless it has succeeded by then. */
  late_due_at: Instant.nullish(),
  payload: z.unknown(),
  /** What of the payload the search of the history finds. */
  search: z.string().nullish(),
  labels: z.record(z.string(), z.string()).nullish(),
  priority: z.int().nullish(),
  enqueued_at: Instant,
  /** When a delayed or retrying run is due. */
  run_at: Instant.nullish(),
  /** The number of the attempt that this fact is of; 0 before the first. */
  attempt: z.int(),
  worker: z.string().nullish(),
  started_at: Instant.nullish(),
  finished_at: Instant.nullish(),
  result: z.unknown().optional(),
  error: RunError.nullish(),
  redrive_of: z.uuid().nullish(),
  /** The run whose handler enqueued it. */
  parent_id: z.uuid().nullish(),
  idempotency_key: z.string().nullish(),
  /** What its job counts it under, where it limits how many of a kind run at once. */
  concurrency_key: z.string().nullish(),
  /** Of a dead run: the same for all that died of the same cause. */
  fingerprint: z.string().nullish(),
  /** What became of this attempt; absent when the fact is of no attempt. */
  attempt_state: AttemptState.nullish(),
  /** When this attempt ended, also where the run goes on. */
  attempt_finished_at: Instant.nullish(),
  /** What the handler of this attempt logged. */
  log: z.array(LogLine).nullish(),
})
export type RunFact = z.infer<typeof RunFact>

/** An attempt that ended without a word of its own: its worker died or lost its lock. */
export const AttemptFact = z.object({
  kind: z.literal('attempt'),
  id: z.uuid(),
  attempt: z.int(),
  attempt_state: AttemptState,
  worker: z.string().nullish(),
  started_at: Instant.nullish(),
  attempt_finished_at: Instant.nullish(),
  error: RunError.nullish(),
})
export type AttemptFact = z.infer<typeof AttemptFact>

/**
 * What somebody decided about a dead letter, for good: it was redriven, or discarded. It is told apart
 * from the run, whose row may come before or after it.
 */
export const LetterFact = z.object({
  kind: z.literal('letter'),
  /** The dead run. */
  id: z.uuid(),
  letter: z.object({
    at: Instant,
    by: z.string(),
    /** The run that was made of it. */
    redrivenAs: z.uuid().nullish(),
    /** Why it was discarded, in the words of who did. */
    reason: z.string().nullish(),
    /** The redrive that it belongs to, when it was one of many. */
    redrive: z.uuid().nullish(),
  }),
})
export type LetterFact = z.infer<typeof LetterFact>

/** Why a leader's term ended. */
export const TermEnd = z.enum([
  'released', // its process was stopped
  'stepped-down', // it was asked to
  'untrusted', // it could not renew its lease in time
  'stalled', // its firing made no progress
  'expired', // its successor found the lease free
])
export type TermEnd = z.infer<typeof TermEnd>

/** The beginning or end of a leader's term. */
export const TermFact = z.object({
  kind: z.literal('term'),
  term: z.int(),
  instance: z.string(),
  from_at: Instant,
  until_at: Instant.nullish(),
  reason: TermEnd.nullish(),
})
export type TermFact = z.infer<typeof TermFact>

/**
 * An entry of the audit log: who did what to what. It is told twice, before the act and, complete in
 * itself, with its status afterwards; the one with a status holds.
 */
export const AuditFact = z.object({
  kind: z.literal('audit'),
  /** A UUIDv7 of the entry's time. */
  id: z.uuid(),
  audit: z.object({
    at: Instant,
    actor: z.string(),
    role: Role,
    /** How the actor came in. */
    came_by: z.string(),
    token_id: z.uuid().nullish(),
    address: z.string().nullish(),
    request_id: z.string().nullish(),
    action: z.string(),
    subject: z.string().nullish(),
    request: z.unknown().optional(),
    /** The HTTP status of the answer. */
    status: z.int().nullish(),
    ended_at: Instant.nullish(),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  }),
})
export type AuditFact = z.infer<typeof AuditFact>

export const Fact = z.discriminatedUnion('kind', [
  RunFact,
  AttemptFact,
  LetterFact,
  TermFact,
  AuditFact,
])
export type Fact = z.infer<typeof Fact>
