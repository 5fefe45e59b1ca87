export { InvalidRunError } from './check-run.ts'
export { type Client, ClientClosedError, createClient } from './client.ts'
export { type ClientOptions, ClientOptionsError } from './client-options.ts'
export { type ApiAccess, HistoryUnavailableError } from './history-api.ts'
export { newRunId } from './new-run-id.ts'
export { type EndOptions, NotEndedError, type RunHandle, UnknownRunError } from './run-handle.ts'
export type { EndedRun, RunStatus } from './run-state.ts'
export type { EnqueueManyOptions, EnqueueOptions, Sendable } from './enqueue-options.ts'
export {
  type BackoffInput,
  defineJob,
  type JobDefinition,
  JobDefinitionError,
} from './define-job.ts'
export { describeJob } from './describe-job.ts'
export type { JobContext, JobLog, JobLogMethod, NamedJob, TypedJob } from './job-context.ts'
export {
  AttemptEndedError,
  isPermanentError,
  isRetryLaterError,
  PermanentError,
  RetryLaterError,
  TimeoutError,
} from './job-errors.ts'
export type { AnyJob, Job, KeyLimit } from './job.ts'
export {
  IdempotencyConflictError,
  MissingKeyError,
  PayloadTooLargeError,
  RedisUnavailableError,
  TryLaterError,
} from '@jadwal/queue'
export type { Fuse, Isolation, LogLine, OnLost } from '@jadwal/domain'
export { type Clock, type SecretRef, systemClock } from '@jadwal/domain'
