import { fingerprint } from '@jadwal/domain'
import { deadLetterFields } from './dead-letter.ts'
import type { Outcome } from './outcome-script.ts'
import { writeStoredOutcome } from './outcome-record.ts'
import type { RunEnd, ToldEnd } from './run-end.ts'
import { lostAttemptLine, runFactLine, type RunNews } from './run-fact.ts'
import type { StartedRun } from './run-start.ts'

const END_OF_RUN = {
  succeeded: true,
  dead: true,
  cancelled: true,
  retry: false,
  drained: false,
} satisfies Record<ToldEnd['kind'], boolean>

/** What is to be written of an attempt that has ended, as told by a worker. */
export function runOutcome(run: StartedRun, end: ToldEnd, worker: string): Outcome {
  const { endedAtMs } = run
  const facts = runFactLine(run, worker, { ...newsOf(run, end), log: run.log })
  const outcome: Outcome = {
    id: run.id,
    token: run.token,
    stored: storedOf(run, end, endedAtMs),
    facts: run.lostAttempts.length === 0 ? facts : withLostAttempts(run, facts),
  }
  const { owner } = run
  if (owner !== undefined && END_OF_RUN[end.kind]) outcome.leaves = owner
  if (run.mayHaveSlot) outcome.freesSlot = true
  if (end.kind === 'dead') outcome.letter = letterOf(run, end, endedAtMs)
  return outcome
}

function newsOf({ job, endedAtMs }: StartedRun, end: ToldEnd): RunNews {
  switch (end.kind) {
    case 'succeeded':
      return { state: 'succeeded', attemptState: 'succeeded', endedAtMs, result: end.result }
    case 'dead':
      return {
        state: 'dead',
        reason: end.reason,
        attemptState: end.reason === 'lost' ? 'lost' : 'failed',
        endedAtMs,
        error: end.error,
        fingerprint: fingerprint(job, end.error),
      }
    case 'retry':
      return {
        state: 'retrying',
        attemptState: 'failed',
        endedAtMs,
        runAtMs: endedAtMs + end.delayMs,
        error: end.error,
      }
    case 'cancelled':
      return {
        state: 'cancelled',
        reason: end.reason,
        attemptState: 'cancelled',
        endedAtMs,
        ...(end.error ? { error: end.error } : {}),
      }
    case 'drained':
      return { state: 'queued', reason: 'drained', attemptState: 'drained', endedAtMs }
  }
}

function storedOf(run: StartedRun, end: ToldEnd, endedAtMs: number): string {
  const { attempt } = run
  if (end.kind !== 'retry') return writeStoredOutcome({ kind: end.kind, attempt })
  return writeStoredOutcome({
    kind: 'retry',
    attempt,
    failures: run.failures + 1,
    runAtMs: endedAtMs + end.delayMs,
  })
}

function withLostAttempts(run: StartedRun, facts: string): string {
  return [...run.lostAttempts.map((attempt) => lostAttemptLine(run, attempt)), facts].join('\n')
}

function letterOf(
  run: StartedRun,
  end: Extract<RunEnd, { kind: 'dead' }>,
  endedAtMs: number,
): string[] {
  return deadLetterFields({
    job: run.job,
    data: run.message,
    enqueuedAtMs: run.enqueuedAtMs,
    failures: run.failures,
    priority: run.priority,
    death: {
      reason: end.reason,
      error: end.error,
      attempt: run.attempt,
      at: new Date(endedAtMs).toISOString(),
    },
  })
}
