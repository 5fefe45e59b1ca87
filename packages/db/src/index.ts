export { type AlertConfig, loadAlertConfig, noteSeen } from './alert-config.ts'
export {
  type AlertSettingTable,
  deleteAlertSetting,
  findAlertSetting,
  listAlertSettings,
  putAlertSetting,
} from './alert-settings.ts'
export {
  type AlertFilters,
  type ChannelReport,
  deleteOldAlerts,
  listAlerts,
  listChannelReports,
  listUnfinishedAlerts,
  recordAlerts,
} from './alert-states.ts'
export {
  type EventGroup,
  type EventGroups,
  findDeadGroups,
  findLateTicks,
  findMissedTicks,
} from './find-event-groups.ts'
export { findFailureRates } from './find-failure-rates.ts'
export { listAlertAddresses } from './list-alert-addresses.ts'
export { askPostgres } from './ask-postgres.ts'
export { applySchedules } from './apply-schedules.ts'
export { applyTellingVersions } from './changed-versions.ts'
export {
  type BackfillChange,
  changeBackfillState,
  countBackfillRuns,
  findBackfill,
  insertBackfill,
  listActiveBackfills,
  listBackfills,
  markBackfillCleaned,
  type NamedBackfill,
  recordBackfillProgress,
  tellingBackfillState,
} from './backfills.ts'
export { BadCursorError } from './cursor.ts'
export {
  type DeadLetterGroup,
  type DeadLetterGroupPage,
  listDeadLetterGroups,
} from './dead-letter-groups.ts'
export {
  countDeadLetters,
  type DeadLetterFilters,
  findLetters,
  type LetterPosition,
  listDeadLetters,
  listUnsettledIds,
  listUnsettledLetters,
  type Settled,
} from './dead-letters.ts'
export {
  beginCanaryStep,
  changeRedriveState,
  countRedriven,
  findRedrive,
  findReturned,
  insertRedrive,
  listRedrives,
  listRunningRedrives,
  notEnded,
  noteLetters,
  noteRedrive,
  type RedriveChange,
  type RedriveProgress,
  type ReturnedRun,
  stopRedrive,
  tellingRedriveState,
} from './redrives.ts'
export { type AuditFilters, deleteOldAudit, listAudit } from './list-audit.ts'
export type { AuditRow, TokenRow } from './access-tables.ts'
export type { AlertSettingRow } from './alert-tables.ts'
export type {
  AttemptRow,
  BackfillRow,
  CalendarRow,
  Database,
  Db,
  LeaderTermRow,
  RedriveFilter,
  RedriveRow,
  RunRow,
  SchedulePauseRow,
  ScheduleSource,
  SettledLetterRow,
} from './database.ts'
export { databaseEnv } from './database-env.ts'
export { hasSchedules } from './has-schedules.ts'
export { findHistoryStart } from './find-history-start.ts'
export { copyLetters, type LetterCopy } from './letter-copies.ts'
export { findRun, listRecordedIds, type RecordedRun } from './find-run.ts'
export { findScheduleName, type NamedSchedule } from './find-schedule-name.ts'
export { type BackfilledRun, listBackfilledRuns } from './list-backfilled-runs.ts'
export { listCoveredTicks } from './list-covered-ticks.ts'
export { listCalendarSpecs } from './list-calendar-specs.ts'
export { listPausesOf } from './list-pauses-of.ts'
export { listRuns } from './list-runs.ts'
export type { RunFilters } from './run-conditions.ts'
export { findCalendar, listCalendars } from './list-calendars.ts'
export { listCurrentPauses } from './list-pauses.ts'
export {
  findSchedule,
  listSchedules,
  type ScheduleFilters,
  type ScheduleInForce,
} from './list-schedules.ts'
export { listPausesAfter, listScheduleRules, type ScheduleRule } from './list-schedule-rules.ts'
export { listTerms } from './list-terms.ts'
export { type LedgerRow, listTickRows } from './list-tick-rows.ts'
export { findVersion, listVersions, type RecordedVersion } from './list-versions.ts'
export { countFailedAttempts } from './count-failed-attempts.ts'
export { listUnfinishedRuns } from './list-unfinished-runs.ts'
export { listVersionRules } from './list-version-rules.ts'
export {
  type LoadedSchedules,
  loadSchedules,
  OWES_FOR_MS,
  readScheduleRevision,
} from './load-schedules.ts'
export { type LateTick, markLateTicks } from './mark-late-ticks.ts'
export { migrate, type MigrateOptions } from './migrate.ts'
export { type DatabaseOptions, openDatabase } from './open-database.ts'
export type { Page, PageRequest } from './page.ts'
export { type JobRetention, listRetentions, noteRetentions } from './job-retentions.ts'
export { thinHistory } from './thin-history.ts'
export { dropPartitions, ensurePartitions } from './partitions.ts'
export {
  type PauseOutcome,
  type PauseRequest,
  pauseSchedules,
  type PauseSubject,
  resumeSchedules,
} from './pause-schedules.ts'
export { planSchedules } from './plan-schedules.ts'
export {
  type Expected,
  findCalendarTag,
  findScheduleTag,
  isExpected,
  type Precondition,
  PreconditionFailedError,
} from './precondition.ts'
export { type RecordedFacts, recordFacts } from './record-facts.ts'
export { refusedFact } from './refused-fact.ts'
export { countRunsFrom, deleteOldStats, foldRunStats } from './fold-run-stats.ts'
export {
  type RunStats,
  runStats,
  STATS_KEPT_MS,
  STATS_STEPS,
  type StatsQuery,
  type StatsStep,
  STEP_MS,
} from './run-stats.ts'
export type { Percentiles, RunTally } from './run-tally.ts'
export type { ToldRun } from './told-run.ts'
export { type ChangedSchedules, listChangedSchedules } from './list-changed-schedules.ts'
export { rowMessage } from './row-message.ts'
export { type AttemptView, type RunView, runView } from './run-view.ts'
export {
  findScheduleDuration,
  listRecentDurations,
  type ScheduleDuration,
} from './schedule-durations.ts'
export { type Rollback, rollBackSchedule } from './roll-back-schedule.ts'
export {
  type AppliedSchedules,
  ChangeRefusedError,
  type Given,
  type Outcomes,
  type PlannedSchedule,
  type ScheduleChanges,
  type SchedulePlan,
} from './schedule-change.ts'
export { SchedulesBusyError } from './schedule-lock.ts'
export { findSettled } from './settled-letters.ts'
export { stillUnfinished } from './still-unfinished.ts'
export {
  type CalendarState,
  type ScheduleState,
  tellingCalendar,
  tellingPause,
  tellingSchedule,
  type ToldChange,
} from './told-changes.ts'
export {
  createToken,
  listLiveTokens,
  listTokens,
  type LiveToken,
  MOST_LIVE_TOKENS,
  noteTokenUse,
  revokeToken,
} from './tokens.ts'
export { readClock } from './read-clock.ts'
export { RECORDER_NAME } from './recorded-before.ts'
export { readPostgresHealth } from './postgres-health.ts'
export type { VersionContent } from './version-content.ts'
