import { createProducer, type Producer } from '@jadwal/queue'
import type { z } from 'zod'
import { checkEnqueueManyOptions, checkEnqueueOptions, checkRunPayload } from './check-run.ts'
import type { EnqueueManyOptions, EnqueueOptions, Sendable } from './enqueue-options.ts'
import type { Job } from './job.ts'

export interface ClientOptions {
  redisUrl: string
  /** `JADWAL_PREFIX` of the workers; `jadwal` when left out. */
  prefix?: string
  /** Hears each connection error. Without it they show only in the calls that they fail. */
  onError?: (error: Error) => void
}

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
    options?: EnqueueManyOptions,
  ): Promise<string[]>
  close(): Promise<void>
}

export function createClient(options: ClientOptions): Client {
  const producer: Producer = createProducer({
    url: options.redisUrl,
    prefix: options.prefix ?? 'jadwal',
    onError: options.onError ?? ignore,
  })
  return {
    async enqueue(job, payload, opts = {}) {
      const checked = checkEnqueueOptions(job, opts)
      await checkRunPayload(job, payload)
      return producer.enqueue(job, payload, checked)
    },
    async enqueueMany(job, payloads, opts = {}) {
      const checked = checkEnqueueManyOptions(job, opts, payloads.length)
      await Promise.all(payloads.map((payload) => checkRunPayload(job, payload)))
      return producer.enqueueMany(job, payloads, checked)
    },
    close: () => producer.close(),
  }
}

function ignore(): void {}
