/** Log like pino: a sentence, or an object of facts and then a sentence. */
export interface JobLogMethod {
  (message: string): void
  (facts: object, message?: string): void
}

/** Lines of a handler's log carry the run, its job and the attempt by themselves. */
export interface JobLog {
  debug: JobLogMethod
  info: JobLogMethod
  warn: JobLogMethod
  error: JobLogMethod
}

/** What a handler is told about the attempt that it makes, and what it may do with it. */
export interface JobContext {
  /** The same for every attempt of the run: use it as an idempotency key towards others. */
  readonly runId: string
  /** Counted from 1. */
  readonly attempt: number
  /** The nominal instant of a scheduled run. Reckon periods from this, never from the time it is. */
  readonly tickAt?: Date
  /** The name of the schedule that the run is a tick of. */
  readonly schedule?: string
  /** The run whose handler enqueued this one. */
  readonly parentId?: string
  /** Aborts on timeout, at the end of the worker's grace, and when the attempt was lost. */
  readonly signal: AbortSignal
  readonly log: JobLog
  /** Shows how far the attempt is: any JSON value. */
  progress(value: unknown): Promise<void>
}
