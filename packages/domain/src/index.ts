export {
  AlertChannelInput,
  AlertChannelSpec,
  type AlertChannel,
  type ChannelSecret,
} from './alert-channel.ts'
export { AlertMessage, type AlertText, alertText, roughly } from './alert-message.ts'
export { AlertMatchers, type AlertSubject, fits } from './alert-matchers.ts'
export {
  type AlertRule,
  type AlertRuleKind,
  AlertRuleSpec,
  isOfEvents,
  ruleMs,
} from './alert-rule.ts'
export { AlertSilenceSpec, isSilenced } from './alert-silence.ts'
export { type AlertExample, type AlertGroup, alertKey, AlertState } from './alert-state.ts'
export {
  type CalendarChoice,
  calendarNames,
  readCalendars,
  type Calendars,
  CalendarSpec,
  isInCalendar,
} from './calendar.ts'
export { type Cadence, cadenceKey, cronCadence, parseCadenceKey } from './cadence.ts'
export { cadenceIntervalMs } from './cadence-interval.ts'
export { type Clock, DAY, HOUR, MILLISECOND, MINUTE, SECOND, systemClock } from './clock.ts'
export { cronProblem } from './cron.ts'
export { CronError } from './cron-field.ts'
export {
  type Decision,
  decideTicks,
  type SkippedRange,
  type SkipReason,
  type Verdict,
} from './decide-ticks.ts'
export { Duration, formatDuration, parseDurationMs } from './duration.ts'
export { type ExpectedTick, expectedTicks } from './expected-ticks.ts'
export {
  AttemptFact,
  AuditFact,
  Fact,
  LetterFact,
  LogLine,
  RunFact,
  TermEnd,
  TermFact,
} from './fact.ts'
export { ENCRYPTED, Envelope, envelopeKeyId, isEnvelope } from './envelope.ts'
export { fingerprint } from './fingerprint.ts'
export { DEFAULT_FUSE, Fuse, fuseSign, fuseSteps, type FuseStep, openTimesMs } from './fuse.ts'
export { type BackfillRange, type BackfillStretch, backfillTicks } from './backfill.ts'
export {
  alertRunId,
  backfillRunId,
  firstUuidAt,
  newOrderedId,
  newRunId,
  redriveRunId,
  RunId,
  runIdTimeMs,
  ScheduleId,
  skippedRowId,
  tickRunId,
} from './ids.ts'
export { jitterMs } from './jitter.ts'
export { type JitterProposal, proposeJitter } from './jitter-proposal.ts'
export { Isolation, JobDescription, OnLost } from './job.ts'
export { countStarts, highest, perBucket } from './load-ahead.ts'
export {
  type LoadGroup,
  loadGroups,
  type LoadPeriod,
  type PlannedSchedule,
  TooManyTicksError,
} from './load-groups.ts'
export { type LoadPeak, loadPeaks } from './load-peaks.ts'
export { Finding, findingIf, isVersionAtLeast, MOST_SKEW_MS } from './finding.ts'
export { judgePostgres, type PostgresHealth } from './postgres-health.ts'
export { judgeRedis, type RedisHealth } from './redis-health.ts'
export { judgeWork, type OutboxHealth, type QueueHealth, type WorkHealth } from './work-health.ts'
export { localTime } from './local-time.ts'
export { delayProblem, runAtProblem } from './longest-delay.ts'
export { RunMessage } from './message.ts'
export {
  AlertName,
  ALERTS_QUEUE,
  CalendarName,
  JobName,
  QueueName,
  ScheduleName,
  ServedQueueName,
  TICKS_QUEUE,
} from './names.ts'
export { nextFiring } from './next-firing.ts'
export { nextTick } from './next-tick.ts'
export { type NextTick, nextTicks } from './next-ticks.ts'
export { ownReason } from './own-reason.ts'
export { isPausedAt, type Pause } from './pause.ts'
export { type PlainCron, plainCron } from './plain-cron.ts'
export { PayloadPath, REDACTED, redactPayload, valuesAt } from './payload-path.ts'
export {
  isPlain,
  isRedacted,
  type KeptPayload,
  keptPayload,
  mergedRules,
  type PayloadRules,
  redactedTexts,
  searchText,
} from './payload-rules.ts'
export { Retention } from './retention.ts'
export {
  Backoff,
  DEFAULT_ATTEMPTS,
  DEFAULT_BACKOFF,
  DEFAULT_JITTER,
  DEFAULT_TIMEOUT_MS,
  retryDelayMs,
} from './retry-policy.ts'
export { isAtLeast, Role } from './role.ts'
export { AttemptState, isEnded, revision, RunError, RunReason, RunState } from './run.ts'
export {
  readCalendar,
  readSchedule,
  readScheduleFile,
  readScheduleFileStepwise,
  type ScheduleFile,
  type ScheduleFileResult,
  type Written,
} from './schedule-file.ts'
export { ScheduleProblem } from './schedule-problem.ts'
export { diffSpecs, type FieldChange } from './spec-diff.ts'
export {
  MisfirePolicy,
  OverlapPolicy,
  type Schedule,
  scheduleCadence,
  ScheduleSpec,
  type ScheduleSpecInput,
  type ScheduleVersion,
} from './schedule.ts'
export { isOwedToSecret, isSecretRef, SecretRef } from './secret-ref.ts'
export {
  type LedgerEntry,
  TICK_VERDICTS,
  tickLedger,
  type TickRow,
  type TickVerdict,
} from './tick-ledger.ts'
export { type AlertMessageKind, dueMessage, isOver, messageSent, stepAlert } from './step-alert.ts'
export { BUCKET_GROWTH, bucketMs, bucketOf, type Buckets, percentileMs } from './stats-bucket.ts'
export { nextVersionTick } from './version-ticks.ts'
export {
  EVENT_DATA,
  EVENT_TYPES,
  type EventType,
  RUN_EVENT_DATA,
  RUN_EVENT_TYPES,
  type RunEventType,
} from './event.ts'
export { QueueRate, WorkerInfo } from './worker-info.ts'
export { isTimezone } from './zone-clock.ts'
