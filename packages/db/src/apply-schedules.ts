import type { Kysely } from 'kysely'
import type { Database, ScheduleSource } from './database.ts'

export interface ScheduleChanges {
  /** Each as written, with the file's defaults filled in, and already found valid. */
  schedules: readonly { name: string; input: Record<string, unknown> }[]
  /** Delete the schedules of the same source that are not named. */
  prune: boolean
  source: ScheduleSource
  /** Who asked for it. */
  author: string
}

/** Names, by what became of them. */
export interface AppliedSchedules {
  added: string[]
  changed: string[]
  removed: string[]
  unchanged: string[]
  /** Belong to another source: left alone. */
  foreign: string[]
}

/** Makes the schedules be as given, in one transaction. Applying the same again changes nothing. */
export async function applySchedules(
  _db: Kysely<Database>,
  _changes: ScheduleChanges,
): Promise<AppliedSchedules> {
  throw new Error('apply')
}
