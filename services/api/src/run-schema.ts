import { AttemptState, LogLine, RunError, RunReason, RunState } from '@jadwal/domain'
import { z } from 'zod'
import { At } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'

const AttemptSchema = z.strictObject({
  attempt: z.int().describe('Counted from 1.'),
  state: AttemptState,
  worker: z.string().nullable(),
  startedAt: At.nullable(),
  finishedAt: At.optional(),
  error: RunError.optional(),
  log: z.array(LogLine).optional().describe('The last lines that its handler logged.'),
})

/** A run as the api shows it. */
export const RunSchema = z
  .strictObject({
    id: z.uuid(),
    job: z.string(),
    queue: z.string(),
    state: RunState,
    reason: RunReason.optional().describe('Why it is dead, cancelled, skipped or queued again.'),
    payload: z.unknown(),
    result: z.unknown().optional().describe('What its handler returned.'),
    progress: z
      .unknown()
      .optional()
      .describe('While it has not ended: what its handler told last of how far it is.'),
    error: RunError.optional(),
    schedule: z.string().optional(),
    scheduleId: z.uuid().optional(),
    tickAt: At.optional().describe('The tick that it was fired for.'),
    tickUntil: At.optional().describe('Of a range of skipped ticks: the last one.'),
    tickCount: z.int().optional().describe('Of a range of skipped ticks: how many there are.'),
    term: z.int().optional().describe('The term of the leader that fired it.'),
    redriveOf: z.uuid().optional().describe('The dead run that it was made of.'),
    backfillId: z.uuid().optional(),
    lateDueAt: At.optional().describe('When it is late, unless it has succeeded by then.'),
    lateAt: At.optional().describe('When it was found to be late.'),
    parentId: z.uuid().optional().describe('The run whose handler enqueued it.'),
    idempotencyKey: z.string().optional(),
    concurrencyKey: z
      .string()
      .optional()
      .describe('What its job counts it under, where it limits how many of a kind run at once.'),
    fingerprint: z
      .string()
      .optional()
      .describe('Of a dead run: the same for all that died of the same cause.'),
    redrivenAs: z.uuid().optional().describe('Of a dead run: the run that was made of it.'),
    discarded: z
      .strictObject({ at: At, by: z.string(), reason: z.string() })
      .optional()
      .describe('Of a dead run: how it was settled without a new run.'),
    labels: z.record(z.string(), z.string()).optional(),
    priority: z.int().describe('0 is first.'),
    enqueuedAt: At,
    runAt: At.optional().describe('When a delayed or retrying run is due.'),
    startedAt: At.optional(),
    finishedAt: At.optional(),
    attempts: z.array(AttemptSchema),
  })
  .meta({ id: 'Run', description: 'One piece of work of a job, tracked to its end.' })
export type RunAnswer = z.infer<typeof RunSchema>

export const RUN_EXAMPLE: RunAnswer = {
  id: EXAMPLE.run,
  job: 'email.send',
  queue: 'emails',
  state: 'succeeded',
  payload: { to: 'ana@example.com', template: 'welcome' },
  result: { accepted: true },
  priority: 0,
  enqueuedAt: EXAMPLE.at,
  startedAt: EXAMPLE.at,
  finishedAt: EXAMPLE.later,
  attempts: [
    {
      attempt: 1,
      state: 'succeeded',
      worker: EXAMPLE.worker,
      startedAt: EXAMPLE.at,
      finishedAt: EXAMPLE.later,
    },
  ],
}

export const DEAD_EXAMPLE: RunAnswer = {
  id: EXAMPLE.dead,
  job: 'email.send',
  queue: 'emails',
  state: 'dead',
  reason: 'permanent',
  payload: { to: 'nobody@example.com', template: 'welcome' },
  error: { name: 'PermanentError', message: 'no such mailbox' },
  fingerprint: EXAMPLE.fingerprint,
  priority: 0,
  enqueuedAt: EXAMPLE.at,
  startedAt: EXAMPLE.at,
  finishedAt: EXAMPLE.later,
  attempts: [
    {
      attempt: 1,
      state: 'failed',
      worker: EXAMPLE.worker,
      startedAt: EXAMPLE.at,
      finishedAt: EXAMPLE.later,
      error: { name: 'PermanentError', message: 'no such mailbox' },
    },
  ],
}
