import type { ScheduleProblem } from '@jadwal/domain'
import type { ScheduleSource } from './database.ts'
import type { Precondition } from './precondition.ts'
import type { VersionContent } from './version-content.ts'

/** A schedule or calendar as written, with the file's defaults filled in, and already found valid. */
export interface Given {
  name: string
  input: Record<string, unknown>
}

export interface ScheduleChanges {
  schedules: readonly Given[]
  calendars?: readonly Given[]
  /** Delete these. */
  remove?: { schedules?: readonly string[]; calendars?: readonly string[] }
  /** Delete the schedules and calendars of the same source that are not named. */
  prune: boolean
  source: ScheduleSource
  /** Who asked for it. */
  author: string
  /** Why, in the words of the author. */
  reason?: string
  /** Must hold when the change is made. */
  precondition?: Precondition
}

/** Names, by what becomes of them. */
export interface Outcomes {
  added: string[]
  changed: string[]
  removed: string[]
  unchanged: string[]
  /** Belong to another source: left alone. */
  foreign: string[]
}

export interface AppliedSchedules extends Outcomes {
  calendars: Outcomes
}

export interface PlannedSchedule {
  name: string
  /** Null for one that has not been there. */
  id: string | null
  /** Absent when it is added. */
  before?: VersionContent
  /** Absent when it is removed. */
  after?: VersionContent
  /** It stays as it was written; a calendar that it names is what changes. */
  onlyCalendars?: boolean
}

export function namesOf(schedules: readonly { name: string }[]): string[] {
  return schedules.map(({ name }) => name)
}

/** What a change would do. */
export interface SchedulePlan {
  added: PlannedSchedule[]
  changed: PlannedSchedule[]
  removed: PlannedSchedule[]
  unchanged: string[]
  foreign: string[]
  calendars: Outcomes
  /** Not empty: it would be refused. */
  problems: ScheduleProblem[]
}

/** A change that would leave schedules without the calendars they name. Nothing of it was done. */
export class ChangeRefusedError extends Error {
  override name = 'ChangeRefusedError'
  readonly code = 'CHANGE_REFUSED'
  readonly problems: readonly ScheduleProblem[]

  constructor(problems: readonly ScheduleProblem[]) {
    super(problems.map(String).join('\n'))
    this.problems = problems
  }
}
