import { isOwedToSecret, type SecretRef } from '@jadwal/domain'
import { createProducer, type Producer } from '@jadwal/queue'
import { z } from 'zod'
import { describeIssues } from './issues.ts'
import type { Job } from './job.ts'

export interface ClientOptions {
  redisUrl: string
  /** `JADWAL_PREFIX` of the workers; `jadwal` when left out. */
  prefix?: string
  /** Hears each connection error. Without it they show only in the calls that they fail. */
  onError?: (error: Error) => void
}

export interface EnqueueOptions {
  /** Waits this long, in ms, before the run is due. */
  delayMs?: number
  /** The instant from which the run is due; goes before `delayMs`. */
  runAt?: Date
  /** 0 (first, the default) to 1000. */
  priority?: number
  /** How often the run is tried in all, instead of the job's own number. */
  attempts?: number
}

const Options = z.strictObject({
  delayMs: z.number().min(0).optional(),
  runAt: z.date().optional(),
  priority: z.int().min(0).max(1_000).optional(),
  attempts: z.int().min(1).max(1_000).optional(),
})

/** What may be sent as a payload: any text in it may be a reference to a secret of the worker. */
export type Sendable<T> = unknown extends T
  ? T
  : T extends string
    ? T | SecretRef
    : T extends object
      ? { [K in keyof T]: Sendable<T[K]> }
      : T

/** Sends runs from an app. One client per process serves everything; close it at the end. */
export interface Client {
  /**
   * Enqueues one run and returns its id once Redis has it. Throws `InvalidRunError`,
   * `PayloadTooLargeError`, `RedisUnavailableError` or `TryLaterError` (Redis' memory is short).
   */
  enqueue<P extends z.ZodType>(
    job: Job<P>,
    payload: Sendable<z.input<P>>,
    options?: EnqueueOptions,
  ): Promise<string>
  /** Enqueues many runs of a job, none if any payload is wrong. Not atomic when Redis fails midway. The ids come in the order of the payloads. */
  enqueueMany<P extends z.ZodType>(
    job: Job<P>,
    payloads: readonly Sendable<z.input<P>>[],
    options?: EnqueueOptions,
  ): Promise<string[]>
  close(): Promise<void>
}

/** A payload breaks its job's schema, or an option its range. The message names each place, its value and what is right. */
export class InvalidRunError extends Error {
  override name = 'InvalidRunError'
  readonly code = 'INVALID_RUN'
}

export function createClient(options: ClientOptions): Client {
  const producer: Producer = createProducer({
    url: options.redisUrl,
    prefix: options.prefix ?? 'jadwal',
    onError: options.onError ?? ignore,
  })
  return {
    async enqueue(job, payload, opts = {}) {
      checkOptions(job, opts)
      await check(job, payload)
      return producer.enqueue(job, payload, opts)
    },
    async enqueueMany(job, payloads, opts = {}) {
      checkOptions(job, opts)
      await Promise.all(payloads.map((payload) => check(job, payload)))
      return producer.enqueueMany(job, payloads, opts)
    },
    close: () => producer.close(),
  }
}

/** The payload is sent as given, not as parsed: the worker parses it, and transforms must not act twice. */
async function check(job: Job, payload: unknown): Promise<void> {
  const parsed = await job.payload.safeParseAsync(payload)
  const issues = parsed.error?.issues.filter((issue) => !isOwedToSecret(issue, payload)) ?? []
  if (issues.length > 0)
    throw new InvalidRunError(`payload of ${job.name}: ${describeIssues(issues, payload)}`)
}

function checkOptions(job: Job, options: EnqueueOptions): void {
  const issues = Options.safeParse(options).error?.issues ?? []
  if (issues.length > 0)
    throw new InvalidRunError(`options of ${job.name}: ${describeIssues(issues, options)}`)
}

function ignore(): void {}
