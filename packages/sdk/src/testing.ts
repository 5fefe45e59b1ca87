/** For the tests of handlers: one attempt of a job, made and judged as a worker does, without Redis. */
export type { EnqueuedChild } from './recorded-children.ts'
export { runJob, type RunJobOptions, type RunJobResult } from './run-job.ts'
export type { LogLine, RunError } from '@jadwal/domain'
