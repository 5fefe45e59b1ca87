import type { AttemptState, RunError, RunReason, RunState } from '@jadwal/domain'
import type { ColumnType, Generated, JSONColumnType, Kysely, Selectable } from 'kysely'

/** The tables of Jadwal. Runs and attempts are written by `recordFacts` alone, in raw SQL. */
export interface Database {
  runs: RunTable
  attempts: AttemptTable
  leader_terms: LeaderTermTable
  schedules: ScheduleTable
  schedule_versions: ScheduleVersionTable
  schedule_revision: ScheduleRevisionTable
}

/** A pool on the tables, or a transaction in it. */
export type Db = Kysely<Database>

/** One row a run. The columns are the keys of a RunFact. */
interface RunTable {
  id: string
  revision: number
  state: RunState
  reason: RunReason | null
  job: string
  queue: string
  schedule_id: string | null
  schedule: string | null
  tick_at: Date | null
  tick_until: Date | null
  tick_count: number | null
  term: number | null
  payload: unknown
  labels: JSONColumnType<Record<string, string>> | null
  priority: number | null
  enqueued_at: Date
  run_at: Date | null
  attempt: number
  worker: string | null
  started_at: Date | null
  finished_at: Date | null
  result: unknown
  error: JSONColumnType<RunError> | null
  redrive_of: string | null
  recorded_at: Generated<Date>
}
/** A run as Postgres has it. */
export type RunRow = Selectable<RunTable>

/**
 * One row an attempt, save the commonest: a first attempt that succeeded within a second is told by
 * its run's row.
 */
interface AttemptTable {
  run_id: string
  attempt: number
  state: AttemptState
  worker: string | null
  started_at: Date | null
  finished_at: Date | null
  error: JSONColumnType<RunError> | null
  recorded_at: Generated<Date>
}
export type AttemptRow = Selectable<AttemptTable>

interface LeaderTermTable {
  term: number
  instance: string
  from_at: Date
  until_at: Date | null
  reason: 'released' | 'expired' | null
}
export type LeaderTermRow = Selectable<LeaderTermTable>

/** Who may change a schedule: the schedule file, or the api. */
export type ScheduleSource = 'file' | 'api'

/** A name keeps its id for ever, also when it is deleted and made again. */
interface ScheduleTable {
  id: Generated<string>
  name: string
  source: ScheduleSource
  /** The value of `schedule_revision` with which it last changed. */
  revision: number
  created_at: Date
  changed_at: Date
  deleted_at: Date | null
}

/** What a schedule said over a time: ticks in (from_at, until_at] are its. */
interface ScheduleVersionTable {
  schedule_id: string
  version: number
  /** As written, with the file's defaults filled in; parsed by `ScheduleSpec` of the domain. */
  spec: ColumnType<Record<string, unknown>, string, never>
  author: string
  from_at: Date
  until_at: Date | null
}

/** One row: grows with each change of any schedule. */
interface ScheduleRevisionTable {
  revision: number
}
