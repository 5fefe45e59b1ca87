import { DAY, retryDelayMs } from '@jadwal/domain'
import { resultText, runError, type RunEnd, type StartedRun } from '@jadwal/queue'
import { type AnyJob, isPermanentError, isRetryLaterError } from '@jadwal/sdk'
import type { AttemptEnd } from './attempt.ts'

const LONGEST_WAIT_MS = 30 * DAY

/** What an attempt's end means for its run. `random` is in [0, 1) and decides the jitter. */
export function judgeAttempt(
  { run, job }: { run: Pick<StartedRun, 'failures' | 'message'>; job: AnyJob },
  end: AttemptEnd,
  random: number,
): RunEnd {
  if (end.kind === 'returned') return { kind: 'succeeded', result: resultText(end.value) }
  if (end.kind !== 'threw') return end
  const error = runError(end.error)
  if (isPermanentError(end.error)) return { kind: 'dead', reason: 'permanent', error }
  const failures = run.failures + 1
  if (failures >= (run.message.attempts ?? job.attempts))
    return { kind: 'dead', reason: 'failed', error }
  const delayMs = isRetryLaterError(end.error)
    ? Math.min(Math.round(end.error.delayMs), LONGEST_WAIT_MS)
    : retryDelayMs(job.backoff, failures, random)
  return { kind: 'retry', error, delayMs }
}
