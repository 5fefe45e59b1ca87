import type { OnLost } from '@jadwal/domain'
import { endsRun, type StoredOutcome } from './outcome-record.ts'

/** So many starts without an outcome in a row end a run: it kills its workers, or none can keep its lock. */
const MAX_LOST_ATTEMPTS = 3

/**
 * Of so many the history is told. More than end a run may be lost when workers die while they end it,
 * and starts of a message that was left alone for long are not worth a row each.
 */
export const MOST_LOST_TOLD = 20

export type TakeUp =
  /**
   * Call the handler. Earlier attempts in `lost` ended without a word, and `lostBefore` ones before
   * the run was left alone, of which was told then. Two make the run a suspect.
   */
  | { kind: 'run'; lost: readonly number[]; lostBefore: number }
  /** A predecessor wrote the outcome and died: BullMQ only has to be told. */
  | { kind: 'finish' }
  | { kind: 'retry'; failures: number; runAtMs: number }
  /** Too many attempts were lost. */
  | { kind: 'dead'; lost: readonly number[]; lostBefore: number }

/**
 * What a worker does with a message that was started before, from what was stored of its last outcome;
 * `onLost` is what the run's job says of lost attempts.
 */
export function takeUp(
  run: { attempt: number; failures: number },
  stored: StoredOutcome | undefined,
  onLost: OnLost,
): TakeUp {
  if (endsRun(stored)) return { kind: 'finish' }
  if (stored?.kind === 'retry' && run.failures < stored.failures)
    return { kind: 'retry', failures: stored.failures, runAtMs: stored.runAtMs }
  const first = (stored?.attempt ?? 0) + 1
  const lost = Array.from({ length: Math.max(0, run.attempt - first) }, (_, i) => first + i)
  const shown = lost.slice(-MOST_LOST_TOLD)
  const lostBefore = stored?.kind === 'left-alone' ? stored.lost : 0
  const most = onLost === 'dead-letter' ? 1 : MAX_LOST_ATTEMPTS
  const isDead = lostBefore + lost.length >= most
  return { kind: isDead ? 'dead' : 'run', lost: shown, lostBefore }
}
