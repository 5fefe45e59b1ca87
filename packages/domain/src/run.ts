import { z } from 'zod'

export const RunState = z.enum([
  'queued',
  'running',
  'retrying',
  'succeeded',
  'dead',
  'cancelled',
  'skipped',
])
export type RunState = z.infer<typeof RunState>

const ENDED = {
  queued: false,
  running: false,
  retrying: false,
  succeeded: true,
  dead: true,
  cancelled: true,
  skipped: true,
} satisfies Record<RunState, boolean>

export function isEnded(state: RunState): boolean {
  return ENDED[state]
}

/** How far a state is within one attempt. Of two facts of a run the one with the higher revision holds. */
const RANK = {
  queued: 0,
  running: 1,
  retrying: 2,
  skipped: 3,
  succeeded: 3,
  dead: 3,
  cancelled: 3,
} satisfies Record<RunState, number>

/**
 * The revision of a fact: (attempt, rank of state) in one integer. A run that goes back to its queue
 * (drained or rescued) is `queued` with the attempt that was cut short, above that attempt's `running`.
 */
export function revision(attempt: number, state: RunState): number {
  const rank = state === 'queued' && attempt > 0 ? RANK.retrying : RANK[state]
  return attempt * 10 + rank
}

export const AttemptState = z.enum([
  'running',
  'succeeded',
  'failed',
  'drained',
  'lost',
  'cancelled',
])
export type AttemptState = z.infer<typeof AttemptState>

/** Why a run is dead, skipped, cancelled, or back in its queue. */
export const RunReason = z.enum([
  'failed', // dead: the last attempt that the retry policy allows failed
  'permanent', // dead: the handler threw a PermanentError
  'invalid-payload', // dead: the payload breaks the job's schema
  'unknown-job', // dead, or skipped: no handler of that name is served from this queue
  'lost', // dead: its worker died too often without an outcome, or Redis lost its message
  'exhausted', // dead: BullMQ gave the message up by itself, found by the sweep
  'overlap', // skipped: an earlier run of the schedule was unfinished
  'paused', // skipped: the schedule was paused
  'calendar', // skipped: a calendar of the schedule says so
  'misfire', // skipped: too late for its misfire policy
  'shadow', // skipped: the schedule is in shadow mode
  'drained', // queued again: its worker was stopped
  'cancelled', // cancelled: somebody asked for it
  'superseded', // cancelled: a later run of its schedule took its place
])
export type RunReason = z.infer<typeof RunReason>

export const RunError = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  code: z.string().optional(),
})
export type RunError = z.infer<typeof RunError>
