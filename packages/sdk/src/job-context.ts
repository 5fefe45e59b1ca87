import type { PayloadRules } from '@jadwal/domain'
import type { z } from 'zod'
import type { EnqueueManyOptions, EnqueueOptions, Sendable } from './enqueue-options.ts'

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

/** A job whose code is at hand: what is sent is checked and typed by its schema. */
export interface TypedJob<P extends z.ZodType> extends Readonly<PayloadRules> {
  readonly name: string
  readonly queue: string
  readonly payload: P
}

/** A job by its name. Its queue is the one that its workers serve it from, unless it is given. */
export interface NamedJob extends Readonly<PayloadRules> {
  readonly name: string
  readonly queue?: string
  readonly payload?: never
}

/** What a handler is told about the attempt that it makes, and what it may do with it. */
export interface JobContext {
  /** The same for every attempt of the run: use it as an idempotency key towards others. */
  readonly runId: string
  /**
   * Counted from 1, over all starts of the handler: also those that were drained or lost, which use up
   * none of the tries that the retry policy allows, but not those that were parked.
   */
  readonly attempt: number
  /** The nominal instant of a scheduled run. Reckon periods from this, never from the time it is. */
  readonly tickAt?: Date
  /** The name of the schedule that the run is a tick of. */
  readonly schedule?: string
  /** The run whose handler enqueued this one. */
  readonly parentId?: string
  /** Aborts on timeout, on cancel, at the end of the worker's grace, and when the attempt was lost. */
  readonly signal: AbortSignal
  readonly log: JobLog
  /**
   * Shows how far the attempt is: any JSON value. One of more than 16 KiB is replaced by a note that
   * says so. What comes after the attempt's end is left out.
   */
  progress(value: unknown): Promise<void>
  /**
   * Enqueues a run that has this one as its parent, and returns its id. The same call in a later
   * attempt gives the same child: unless `idempotencyKey` is given, the child has a key made of the
   * parent, the job, the payload, and how often this attempt enqueued that before.
   *
   * Throws what a client throws, and `AttemptEndedError` after the attempt's end. An `InvalidRunError`
   * names what is wrong with payload or options, or a job that no worker has published.
   */
  enqueue<P extends z.ZodType>(
    job: TypedJob<P>,
    payload: Sendable<z.input<P>>,
    options?: EnqueueOptions,
  ): Promise<string>
  enqueue(job: NamedJob, payload: unknown, options?: EnqueueOptions): Promise<string>
  /** Enqueues many children of a job, none if any payload is wrong. The ids come in the order of the payloads. */
  enqueueMany<P extends z.ZodType>(
    job: TypedJob<P>,
    payloads: readonly Sendable<z.input<P>>[],
    options?: EnqueueManyOptions,
  ): Promise<string[]>
  enqueueMany(
    job: NamedJob,
    payloads: readonly unknown[],
    options?: EnqueueManyOptions,
  ): Promise<string[]>
}
