import type { RunError, RunReason } from '@jadwal/domain'

/** How an attempt ended, in the words of the worker that made it. */
export type RunEnd =
  /** `result` is JSON. */
  | { kind: 'succeeded'; result?: string | undefined }
  | { kind: 'retry'; error: RunError; delayMs: number }
  | { kind: 'dead'; reason: RunReason; error: RunError }
  /** Somebody wanted it so. `error` tells of a handler that did not heed its signal. */
  | { kind: 'cancelled'; reason: RunReason; error?: RunError }
  /** Cut short because the worker stops: another one does it again. */
  | { kind: 'drained' }
  /** Not for this worker but for one of another version: it waits for that one, and nothing is told. */
  | { kind: 'left-alone'; delayMs: number }
  /** Its message lies in a lot, where it waits to be released: it is to be left alone, and nothing is told. */
  | { kind: 'in-lot' }
  /** Another worker has the run by now; nothing that this attempt did counts. */
  | { kind: 'lost' }

/** An end that is told to the history. */
export type ToldEnd = Exclude<RunEnd, { kind: 'lost' | 'left-alone' | 'in-lot' }>

/** The end of a run whose last attempts, so many in a row, were lost: more than its job allows. */
export function lostTooOften(times: number): RunEnd {
  const message =
    times === 1
      ? 'an attempt ended without an outcome: its worker died or lost the lock, and the job says not to make it again (onLost)'
      : `${times} attempts in a row ended without an outcome: their workers died or lost the lock`
  return { kind: 'dead', reason: 'lost', error: { name: 'LostError', message } }
}
