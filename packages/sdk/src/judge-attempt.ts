import { DAY, retryDelayMs } from '@jadwal/domain'
import { resultText, runError, type RunEnd, type StartedRun } from '@jadwal/queue'
import { AbandonedError } from './abandoned-error.ts'
import type { AttemptEnd } from './attempt.ts'
import { isPermanentError, isRetryLaterError } from './job-errors.ts'
import type { AnyJob } from './job.ts'
import { type Mask, maskValue } from './secret-mask.ts'

const LONGEST_WAIT_MS = 30 * DAY

/**
 * What an attempt's end means for its run. `mask` hides secrets in what is kept of it; `random` is in
 * [0, 1) and decides the jitter.
 */
export function judgeAttempt(
  {
    run,
    job,
    mask,
  }: {
    run: Pick<StartedRun, 'failures' | 'message'>
    job: AnyJob
    mask?: Mask | undefined
  },
  end: AttemptEnd,
  random: number,
): RunEnd {
  if (end.kind === 'returned') return { kind: 'succeeded', result: resultOf(end.value, mask) }
  if (end.kind === 'cancelled') return cancelled(end)
  if (end.kind !== 'threw') return end
  const error = runError(end.error, mask)
  if (isPermanentError(end.error)) return { kind: 'dead', reason: 'permanent', error }
  const failures = run.failures + 1
  if (failures >= (run.message.attempts ?? job.attempts))
    return { kind: 'dead', reason: 'failed', error }
  const delayMs = askedDelayMs(end.error) ?? retryDelayMs(job.backoff, failures, random)
  return { kind: 'retry', error, delayMs }
}

function cancelled({ reason, abandoned }: Extract<AttemptEnd, { kind: 'cancelled' }>): RunEnd {
  if (!abandoned) return { kind: 'cancelled', reason }
  const { name, code, message } = new AbandonedError(`the run was ${reason}`)
  return { kind: 'cancelled', reason, error: { name, code, message } }
}

/** The delay that a RetryLaterError asks for. It may be a getter that answers only once. */
function askedDelayMs(error: unknown): number | undefined {
  try {
    if (!isRetryLaterError(error)) return undefined
    const delayMs = Math.min(Math.round(error.delayMs), LONGEST_WAIT_MS)
    return delayMs >= 0 ? delayMs : undefined
  } catch {
    return undefined
  }
}

function resultOf(value: unknown, mask: Mask | undefined): string | undefined {
  if (!mask) return resultText(value)
  try {
    return resultText(maskValue(value, mask))
  } catch (error) {
    return JSON.stringify({ unserialisable: runError(error, mask).message })
  }
}
