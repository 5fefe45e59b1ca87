import type {
  AttemptState,
  Calendars,
  LogLine,
  Retention,
  RunError,
  RunReason,
  RunState,
  TermEnd,
} from '@jadwal/domain'
import type { ColumnType, Generated, JSONColumnType, Kysely, Selectable } from 'kysely'
import type { AuditTable, TokenTable } from './access-tables.ts'
import type {
  AlertRuleTable,
  AlertSettingTable,
  AlertSilenceTable,
  AlertStateTable,
} from './alert-tables.ts'

/** The tables of Jadwal. Runs and attempts are written by `recordFacts` alone, in raw SQL. */
export interface Database {
  runs: RunTable
  attempts: AttemptTable
  /** Runs and attempts of any age: views of the tables above and of what jobs keep longer. */
  runs_all: RunTable
  attempts_all: AttemptTable
  job_retentions: JobRetentionTable
  leader_terms: LeaderTermTable
  schedules: ScheduleTable
  schedule_versions: ScheduleVersionTable
  schedule_revision: ScheduleRevisionTable
  schedule_pauses: SchedulePauseTable
  calendars: CalendarTable
  calendar_revisions: CalendarRevisionTable
  backfills: BackfillTable
  settled_letters: SettledLetterTable
  redrives: RedriveTable
  alert_rules: AlertRuleTable
  alert_channels: AlertSettingTable
  alert_silences: AlertSilenceTable
  alert_states: AlertStateTable
  tokens: TokenTable
  audit_log: AuditTable
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
  backfill_id: string | null
  /** When it is late, unless it has succeeded by then. */
  late_due_at: Date | null
  /** When it was found to be late. Written by `markLateTicks` alone. */
  late_at: Generated<Date | null>
  parent_id: string | null
  idempotency_key: string | null
  concurrency_key: string | null
  fingerprint: string | null
  /** What of the payload its job lets be searched for. */
  search: string | null
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
  /** The last lines that its handler logged. */
  log: JSONColumnType<LogLine[]> | null
}
export type AttemptRow = Selectable<AttemptTable>

/** How long the runs of a job are kept, as it was last published; of those that say so. */
interface JobRetentionTable {
  job: string
  retention: JSONColumnType<Retention>
  /** When it was first published without one. */
  withdrawn_at: Generated<Date | null>
}

interface LeaderTermTable {
  term: number
  instance: string
  from_at: Date
  until_at: Date | null
  reason: TermEnd | null
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
  /** Why it was made, in the words of its author. */
  reason: string | null
  /** The calendars that the spec names, as they were when the version began: the hashes, by name. */
  calendars: JSONColumnType<Record<string, string>>
  /** Who deleted the schedule, when that is how the version ended. */
  deleted_by: string | null
  deleted_reason: string | null
}

/** A time for which a schedule, or without one every schedule, rests: ticks in (from_at, until_at]. */
interface SchedulePauseTable {
  id: Generated<string>
  schedule_id: string | null
  from_at: Date
  /** Null while nobody has said when it ends. */
  until_at: Date | null
  reason: string | null
  author: string
  resumed_by: string | null
}
export type SchedulePauseRow = Selectable<SchedulePauseTable>

/** A calendar as it is now; versions of schedules carry what it was. */
interface CalendarTable {
  name: string
  /** As written; parsed by `CalendarSpec` of the domain. */
  spec: ColumnType<Record<string, unknown>, string, string>
  source: ScheduleSource
  author: string
  changed_at: Date
}
export type CalendarRow = Selectable<CalendarTable>

/** What calendars say or said, each once, however many versions of schedules rest on it. Never deleted. */
interface CalendarRevisionTable {
  /** Of the spec. */
  hash: string
  spec: ColumnType<Record<string, unknown>, string, never>
}

export type BackfillState = 'running' | 'paused' | 'cancelled' | 'done'

/** Runs for ticks in [from_at, until_at) of the past. */
interface BackfillTable {
  id: string
  schedule_id: string
  from_at: Date
  until_at: Date
  state: BackfillState
  /** Also for ticks that have succeeded. */
  all_ticks: boolean
  /** Runs a second at most; null without a limit. */
  rate: number | null
  /** Unfinished runs at most. */
  concurrency: number
  /** The schedule's spec as written when the backfill was made. */
  spec: ColumnType<Record<string, unknown>, string, never>
  /** The calendars that the spec names, as they were then. */
  calendars: JSONColumnType<Calendars, string, never>
  /** Where its runs go. */
  queue: string
  /** Ticks in the range; those passed over (see listCoveredTicks); those that got a run. */
  ticks: number
  skipped: Generated<number>
  enqueued: Generated<number>
  /** The last tick that was dealt with. */
  position_at: Date | null
  /** Why it does not go on by itself. */
  problem: string | null
  author: string
  created_at: Date
  finished_at: Date | null
  /** When the leader was done with it: after its end, none of its runs is left in the queue. */
  cleaned_at: Date | null
}
export type BackfillRow = Selectable<BackfillTable>

/** What was decided about a dead letter. Written by `recordFacts` alone. */
interface SettledLetterTable {
  run_id: string
  settled_at: Date
  settled_by: string
  redriven_as: string | null
  discard_reason: string | null
  redrive_id: string | null
  recorded_at: Generated<Date>
}
export type SettledLetterRow = Selectable<SettledLetterTable>

export type RedriveState = 'running' | 'paused' | 'cancelled' | 'stopped' | 'done'

/** Which dead letters a redrive is of; a value that is absent says nothing. */
export interface RedriveFilter {
  ids?: string[]
  queue?: string
  job?: string
  fingerprint?: string
  /** When the run died, ISO 8601. From, inclusive; to, exclusive. */
  from?: string
  to?: string
}

/** A redrive of many dead letters, those that died before it was made. */
interface RedriveTable {
  id: string
  state: RedriveState
  filter: JSONColumnType<RedriveFilter, string, never>
  /** Runs a second at most; null without a limit. */
  rate: number | null
  canary: boolean
  /** Of a canary: how many of its steps were begun, of one letter, of ten, and of all the rest. */
  step: Generated<number>
  /** The letters of the step begun last; none of the step of all the rest. */
  canary_letters: Generated<string[]>
  /** How many there were when it was made, as far as recorded; null where that was not counted. */
  letters: number | null
  /** How many were left since their run could not be made. */
  refused: Generated<number>
  /** Why it does not go on by itself, or left some. */
  problem: string | null
  /** What stopped a canary: a run of it that died like the one before, and what of. */
  returned_run: string | null
  returned_fingerprint: string | null
  author: string
  created_at: Date
  finished_at: Date | null
}
export type RedriveRow = Selectable<RedriveTable>

/** One row: grows with each change of any schedule. */
interface ScheduleRevisionTable {
  revision: number
}
