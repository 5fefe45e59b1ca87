export { InvalidRunError } from './check-run.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
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
export { PayloadTooLargeError, RedisUnavailableError, TryLaterError } from '@jadwal/queue'
export type { Fuse, Isolation, LogLine, OnLost } from '@jadwal/domain'
export { type Clock, type SecretRef, systemClock } from '@jadwal/domain'
