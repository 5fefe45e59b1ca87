import {
  keptPayload,
  type LetterFact,
  type PayloadRules,
  redriveRunId,
  revision,
  type RunFact,
  type RunId,
  type RunMessage,
} from '@jadwal/domain'
import type { PayloadCipher } from './payload-cipher.ts'
import { instant, safeJson, scheduleFacts } from './run-fact.ts'
import { openPayload, sentPayload } from './sent-payload.ts'

/** A dead run as far as it is needed to make it anew. */
export interface DeadRunCopy {
  job: string
  message: RunMessage
  priority: number
  /** Values that its handler needs are gone: the history does not have them. */
  lacksValues?: boolean
}

/** The job that a dead run is made anew of. */
export interface RedrivenJob extends PayloadRules {
  queue: string
}

/** Who decides about dead letters, and when. */
export interface Decider {
  by: string
  /** The redrive that it is part of, when that is one of many. */
  redrive?: string
  nowMs: number
}

export interface RedrivenRun {
  id: RunId
  message: RunMessage
  /** Its first fact, as JSON: it has a row from the start, so that its loss would be noticed. */
  fact: string
  /** The schedule for which it counts as an unfinished run, or ''. */
  owner: string
}

/**
 * The run that a dead one is redriven as, with all attempts before it. It keeps payload, labels, parent,
 * and the schedule and tick it is of, but belongs to no backfill and is never late: it is a run by hand.
 * An encrypted payload is encrypted anew. Throws `MissingKeyError` or `UnreadableEnvelopeError`.
 */
export function redrivenRun(
  deadId: string,
  { job, message: dead, priority }: DeadRunCopy,
  { to, cipher, nowMs }: { to: RedrivenJob; cipher: PayloadCipher | undefined; nowMs: number },
): RedrivenRun {
  const id = redriveRunId(deadId)
  const { schedule, labels, attempts, timeoutMs, parentId } = dead
  const message: RunMessage = {
    v: 1,
    ...sentPayload(
      openPayload(dead.payload, { id: deadId, job }, cipher),
      { id, job: { ...to, name: job } },
      cipher,
    ),
    ...(schedule ? { schedule: scheduleOf(schedule) } : {}),
    ...(labels ? { labels } : {}),
    ...(attempts === undefined ? {} : { attempts }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(parentId === undefined ? {} : { parentId }),
    redriveOf: deadId,
  }
  const fact: RunFact = {
    kind: 'run',
    id,
    revision: revision(0, 'queued'),
    state: 'queued',
    job,
    queue: to.queue,
    ...scheduleFacts(message),
    ...keptPayload(message, to),
    labels: labels ?? null,
    priority,
    enqueued_at: instant(nowMs),
    attempt: 0,
    redrive_of: deadId,
    parent_id: parentId ?? null,
  }
  return { id, message, fact: safeJson(JSON.stringify(fact)), owner: schedule?.id ?? '' }
}

function scheduleOf({ id, name, tickAt }: NonNullable<RunMessage['schedule']>) {
  return { id, name, ...(tickAt === undefined ? {} : { tickAt }) }
}

/** The fact of a decision about a dead letter, as JSON. */
export function letterFact(
  id: string,
  { by, redrive, nowMs }: Decider,
  decision: { redrivenAs: string } | { reason: string },
): string {
  const fact: LetterFact = {
    kind: 'letter',
    id,
    letter: {
      at: instant(nowMs),
      by,
      ...decision,
      ...(redrive === undefined ? {} : { redrive }),
    },
  }
  return safeJson(JSON.stringify(fact))
}
