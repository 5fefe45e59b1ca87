import type { AlertRule } from '@jadwal/domain'
import type { Observation, ObserveDeps } from './observation.ts'
import { observeEvents } from './observe-events.ts'
import { observeFailureRate } from './observe-failure-rate.ts'
import { observeStanding } from './observe-standing.ts'

/** Whether a rule is about what only Postgres knows; others are judged while it is away. */
export function needsHistory({ kind }: AlertRule['spec']): boolean {
  switch (kind) {
    case 'dead-letter':
    case 'late-tick':
    case 'missed-tick':
    case 'failure-rate':
      return true
    case 'oldest-waiting':
    case 'no-leader':
    case 'no-worker':
    case 'outbox':
    case 'fuse-open':
    case 'rejected-facts':
      return false
  }
}

/** Looks for what a rule is about; of events for what happened from `fromMs` on. Rejects when Postgres is away and is needed. */
export async function observeRule(
  deps: ObserveDeps,
  { spec }: AlertRule,
  fromMs: number,
): Promise<Observation> {
  switch (spec.kind) {
    case 'dead-letter':
    case 'late-tick':
    case 'missed-tick':
      return await observeEvents(deps.db, spec, fromMs)
    case 'failure-rate':
      return await observeFailureRate(deps, spec)
    case 'oldest-waiting':
    case 'no-leader':
    case 'no-worker':
    case 'outbox':
    case 'fuse-open':
    case 'rejected-facts':
      return { groups: observeStanding(deps.snapshot, spec), isComplete: true }
  }
}
