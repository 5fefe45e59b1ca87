import type { RedriveProgress, RedriveRow } from '@jadwal/db'
import type { RedriveAnswer } from './redrive-schema.ts'

/** A redrive as the api shows it, with how far it is where that was counted. */
export function redriveView(redrive: RedriveRow, counted?: RedriveProgress): RedriveAnswer {
  const { id, state, filter, rate, canary, step, letters, refused, problem, author } = redrive
  const { ids, ...said } = filter
  return {
    id,
    state,
    filter: ids === undefined ? said : { ...said, idCount: ids.length },
    rate,
    canary,
    ...(canary ? { step } : {}),
    /** How many there were when it was asked for, as far as recorded; null where they were not counted. */
    letters,
    ...counted,
    refused,
    ...(problem === null ? {} : { problem }),
    ...(redrive.returned_run === null
      ? {}
      : { returned: { run: redrive.returned_run, fingerprint: redrive.returned_fingerprint } }),
    author,
    createdAt: redrive.created_at.toISOString(),
    finishedAt: redrive.finished_at?.toISOString() ?? null,
  }
}
