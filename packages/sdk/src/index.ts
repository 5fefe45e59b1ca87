export { defineJob, type JobDefinition, JobDefinitionError } from './define-job.ts'
export { describeJob } from './describe-job.ts'
export type { JobContext, JobLog, JobLogMethod } from './job-context.ts'
export {
  isPermanentError,
  isRetryLaterError,
  PermanentError,
  RetryLaterError,
  TimeoutError,
} from './job-errors.ts'
export type { AnyJob, Job } from './job.ts'
