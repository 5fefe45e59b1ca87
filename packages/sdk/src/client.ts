import { createProducer, type Producer, RunFollower } from '@jadwal/queue'
import type { z } from 'zod'
import {
  checkEnqueueManyOptions,
  checkEnqueueOptions,
  checkJob,
  checkPayloads,
  checkRunPayload,
} from './check-run.ts'
import type { EnqueueManyOptions, EnqueueOptions, Sendable } from './enqueue-options.ts'
import { checkClientOptions, type ClientOptions } from './client-options.ts'
import type { Job } from './job.ts'
import { type RunHandle, runHandle } from './run-handle.ts'

/** Sends runs from an app. One client per process serves everything; close it at the end. */
export interface Client {
  /**
   * Enqueues one run and returns its id once Redis has it. Throws `InvalidRunError`,
   * `PayloadTooLargeError`, `IdempotencyConflictError`, `MissingKeyError` (the job wants its payloads
   * encrypted, and there are no `encryptionKeys`), `TryLaterError` (Redis' memory is short), or
   * `RedisUnavailableError` when Redis says nothing for about a second. Nothing is known of the run then:
   * repeat the call with the same `id` or `idempotencyKey`.
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
  /** A run to look at, or to follow to its end. Throws `InvalidRunError` when that is no id. */
  run(id: string): RunHandle
  /** Calls of `end` that are under way fail, and later calls throw `ClientClosedError`. */
  close(): Promise<void>
}

/** A call came after `close`. */
export class ClientClosedError extends Error {
  override name = 'ClientClosedError'
  readonly code = 'CLIENT_CLOSED'

  constructor() {
    super('the client is closed: make a new one with createClient, or close it after the last call')
  }
}

/** Throws `ClientOptionsError`. */
export function createClient(options: ClientOptions): Client {
  const checked = checkClientOptions(options)
  const { redisUrl: url, prefix, onError, maxPayloadBytes, cipher, api } = checked
  const producer: Producer = createProducer({
    url,
    prefix,
    onError,
    maxPayloadBytes,
    cipher,
    followsCatalogue: true,
  })
  const follower = new RunFollower({ url, prefix, onError })
  let isClosed = false
  function check(job: unknown): void {
    if (isClosed) throw new ClientClosedError()
    checkJob(job)
  }
  return {
    async enqueue(job, payload, opts = {}) {
      check(job)
      const said = checkEnqueueOptions(job, opts)
      await checkRunPayload(job, payload)
      return producer.enqueue(job, payload, said)
    },
    async enqueueMany(job, payloads, opts = {}) {
      check(job)
      checkPayloads(payloads)
      const said = checkEnqueueManyOptions(job, opts, payloads.length)
      await Promise.all(payloads.map((payload) => checkRunPayload(job, payload)))
      return producer.enqueueMany(job, payloads, said)
    },
    run(id) {
      if (isClosed) throw new ClientClosedError()
      return runHandle({ follower, api, cipher }, id)
    },
    async close() {
      isClosed = true
      follower.close()
      await producer.close()
    },
  }
}
