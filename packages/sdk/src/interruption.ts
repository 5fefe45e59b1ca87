import type { CancelReason } from '@jadwal/queue'
import { TimeoutError } from './job-errors.ts'

/** Why an attempt was told to end. */
export type Interruption = 'timeout' | 'stop' | 'lost' | CancelReason

const AFTER_TIMEOUT_MS = 5_000
const AFTER_STOP_MS = 1_000
const AFTER_CANCEL_MS = 5_000

/** How long a handler may take to end after its signal was aborted; then the worker goes on without it. */
export const GRACE_MS = {
  timeout: AFTER_TIMEOUT_MS,
  stop: AFTER_STOP_MS,
  lost: AFTER_TIMEOUT_MS,
  cancelled: AFTER_CANCEL_MS,
  superseded: AFTER_CANCEL_MS,
} satisfies Record<Interruption, number>

const WORDS = {
  stop: 'the worker stops',
  lost: 'the run went to another worker',
  cancelled: 'the run was cancelled',
  superseded: 'a later run of the schedule takes its place',
} satisfies Record<Exclude<Interruption, 'timeout'>, string>

/** What the signal of an attempt that may take `timeoutMs` is aborted with. */
export function abortReason(why: Interruption, timeoutMs: number): Error {
  if (why === 'timeout') return new TimeoutError(timeoutMs)
  return new DOMException(WORDS[why], 'AbortError')
}
