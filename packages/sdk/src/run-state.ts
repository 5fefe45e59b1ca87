import { isEnded, type RunError, RunReason, RunState } from '@jadwal/domain'
import { type FoundRun, openedValue, type PayloadCipher } from '@jadwal/queue'
import { z } from 'zod'

/** What has become of a run. */
export interface RunStatus {
  id: string
  job: string
  queue: string
  state: RunState
  reason?: RunReason
  /** What the handler returned, as JSON. */
  result?: unknown
  /** While the run has not ended: what its handler told last of how far it is. */
  progress?: unknown
  /** Of the last attempt that failed. */
  error?: RunError
}

/** A run that has ended. */
export type EndedRun = Pick<RunStatus, 'id' | 'reason' | 'result' | 'error'> & {
  state: Extract<RunState, 'succeeded' | 'dead' | 'cancelled' | 'skipped'>
}

/** A run as the api shows it, as far as it is needed here. */
export const ShownRun = z.object({
  id: z.string(),
  job: z.string(),
  queue: z.string(),
  state: RunState,
  reason: RunReason.nullish(),
  result: z.unknown().optional(),
  progress: z.unknown().optional(),
  error: z.custom<RunError>().nullish(),
})

/** What is encrypted is opened; without its key a text in its place says that it is. */
export function statusOf(
  run: z.infer<typeof ShownRun> | FoundRun,
  cipher?: PayloadCipher,
): RunStatus {
  const { id, job, queue, state, reason, error } = run
  const result = openedValue(run.result, { what: 'result', job, id }, cipher)
  const progress = openedValue(run.progress, { what: 'progress', job, id }, cipher)
  return {
    id,
    job,
    queue,
    state,
    ...(reason == null ? {} : { reason }),
    ...(result == null ? {} : { result }),
    ...(progress == null ? {} : { progress }),
    ...(error == null ? {} : { error }),
  }
}

/** The end of a run; undefined while it goes on. */
export function endOf({ id, state, reason, result, error }: RunStatus): EndedRun | undefined {
  if (!isEnd(state)) return undefined
  return {
    id,
    state,
    ...(reason === undefined ? {} : { reason }),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  }
}

function isEnd(state: RunState): state is EndedRun['state'] {
  return isEnded(state)
}
