import {
  type AppliedSchedules,
  applySchedules,
  type CalendarState,
  ChangeRefusedError,
  PreconditionFailedError,
  type ScheduleChanges,
  type ScheduleState,
  SchedulesBusyError,
  tellingCalendar,
  tellingSchedule,
  type ToldChange,
} from '@jadwal/db'
import { keys } from '@jadwal/queue'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { changedSince } from './etag.ts'
import { Problem } from './problem.ts'
import { scheduleProblem } from './schedule-problems.ts'

type ChangeDeps = Pick<ApiDeps, 'db' | 'redis' | 'prefix' | 'log'>

/** A change of one schedule or calendar that the api has made. */
type OneChange = Omit<ScheduleChanges, 'prune' | 'source'>
type Told<State> = Promise<ToldChange<State | undefined, AppliedSchedules>>

/** Writes or deletes a schedule and tells the leader. Throws a `Problem`, whose fields are those of the schedule. */
export async function changeSchedule(
  deps: ChangeDeps,
  name: string,
  change: OneChange,
): Told<ScheduleState> {
  const told = await makeChange(deps, () =>
    tellingSchedule(deps.db, name, (tx) => applySchedules(tx, ofTheApi(change))).catch(
      (error: unknown) => {
        if (!(error instanceof ChangeRefusedError)) throw error
        const base = `schedules.${name}`
        throw new ChangeRefusedError(error.problems.map((problem) => problem.within(base)))
      },
    ),
  )
  if (told.outcome.foreign.length > 0) throw ofTheFile(`schedule "${name}"`)
  return told
}

/** Likewise of a calendar. */
export async function changeCalendar(
  deps: ChangeDeps,
  name: string,
  change: OneChange,
): Told<CalendarState> {
  const told = await makeChange(deps, () =>
    tellingCalendar(deps.db, name, (tx) => applySchedules(tx, ofTheApi(change))),
  )
  if (told.outcome.calendars.foreign.length > 0) throw ofTheFile(`calendar "${name}"`)
  return told
}

function ofTheApi(change: OneChange): ScheduleChanges {
  return { ...change, prune: false, source: 'api' }
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
