import { randomBytes } from 'node:crypto'
import {
  type AttemptFact,
  newRunId,
  revision,
  type RunFact,
  type RunId,
  type RunState,
  type TermFact,
} from '@jadwal/domain'

/** The day of the facts, unless a test says otherwise. */
export const NOON = new Date('2026-09-01T12:00:00.000Z')

export function runId(at = NOON): RunId {
  return newRunId(at.getTime(), randomBytes(10))
}

/** A fact of a run as its worker writes it; a test says only what it is about. */
export function runFact(fact: Partial<RunFact> = {}): RunFact {
  const state: RunState = fact.state ?? 'succeeded'
  const attempt = fact.attempt ?? 1
  const ended = !['queued', 'running', 'retrying'].includes(state)
  return {
    kind: 'run',
    id: runId(),
    revision: revision(attempt, state),
    state,
    job: 'email.send',
    queue: 'emails',
    payload: { to: 'someone@example.com' },
    enqueued_at: NOON.toISOString(),
    attempt,
    ...(ended ? { finished_at: after(1) } : {}),
    result: null,
    ...fact,
  }
}

export function attemptFact(fact: Partial<AttemptFact> & { id: string }): AttemptFact {
  return { kind: 'attempt', attempt: 1, attempt_state: 'lost', ...fact }
}

export function termFact(fact: Partial<TermFact> & { term: number }): TermFact {
  return { kind: 'term', instance: 'scheduler-1', from_at: NOON.toISOString(), ...fact }
}

/** An instant some seconds after noon. */
export function after(seconds: number): string {
  return new Date(NOON.getTime() + seconds * 1_000).toISOString()
}

export function lines(...facts: readonly object[]): string[] {
  return facts.map((fact) => JSON.stringify(fact))
}
