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
  | { kind: 'parked'; delayMs: number }
  /** Another worker has the run by now; nothing that this attempt did counts. */
  | { kind: 'lost' }

/** An end that is told to the history. */
export type ToldEnd = Exclude<RunEnd, { kind: 'lost' | 'parked' }>

/** The end of a run whose attempts were lost too often. */
export function lostTooOften(times: number): RunEnd {
  return {
    kind: 'dead',
    reason: 'lost',
    error: {
      name: 'LostError',
      message: `${times} attempts in a row ended without an outcome: their workers died or lost the lock`,
    },
  }
}
