import {
  type AppliedSchedules,
  applySchedules,
  ChangeRefusedError,
  PreconditionFailedError,
  type ScheduleChanges,
  SchedulesBusyError,
} from '@jadwal/db'
import { keys } from '@jadwal/queue'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { changedSince } from './etag.ts'
import { Problem } from './problem.ts'
import { scheduleProblem } from './schedule-problems.ts'

type ChangeDeps = Pick<ApiDeps, 'db' | 'redis' | 'prefix' | 'log'>

/** Applies a change and tells the leader. Throws a `Problem`; `base` is left out of its fields' names. */
export async function changeSchedules(
  deps: ChangeDeps,
  changes: ScheduleChanges,
  base = '',
): Promise<AppliedSchedules> {
  return makeChange(deps, () =>
    applySchedules(deps.db, changes).catch((error: unknown) => {
      if (!(error instanceof ChangeRefusedError)) throw error
      throw new ChangeRefusedError(error.problems.map((problem) => problem.within(base)))
    }),
  )
}

/** Changes schedules, calendars or pauses in Postgres and tells the leader. Throws a `Problem`. */
export async function makeChange<T>(deps: ChangeDeps, change: () => Promise<T>): Promise<T> {
  const result = await askHistory(change).catch((error: unknown) => {
    throw asProblem(error)
  })
  const { redis, prefix, log } = deps
  // Without this word the leader finds out by itself within a second.
  redis.publish(keys.schedulesChangedChannel(prefix), 'changed').catch((error: unknown) => {
    log.warn({ err: error }, 'the leader could not be told that schedules changed')
  })
  return result
}

function asProblem(error: unknown): unknown {
  if (error instanceof PreconditionFailedError) return changedSince(error)
  if (error instanceof ChangeRefusedError) return scheduleProblem('bad-request', error.problems)
  if (!(error instanceof SchedulesBusyError)) return error
  const headers = { 'Retry-After': '5' }
  return new Problem('try-later', { detail: error.message, headers, cause: error })
}

/** The answer to a change of what the schedule file has made. */
export function ofTheFile(what: string): Problem {
  return new Problem('of-the-file', {
    detail: `The ${what} is made by the schedule file: change it there and apply the file, or remove it there and apply with prune.`,
  })
}
