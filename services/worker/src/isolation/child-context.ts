import {
  AttemptEndedError,
  type EnqueueManyOptions,
  type EnqueueOptions,
  type JobContext,
  type JobLog,
  type NamedJob,
  type TypedJob,
} from '@jadwal/sdk'
import { runError } from '@jadwal/queue'
import { asManyOptions, checkRunPayload } from '@jadwal/sdk/attempts'
import type { z } from 'zod'
import type { ChildCalls } from './child-calls.ts'
import type { ChildLink } from './child-link.ts'
import { childLog } from './child-log.ts'
import type { AttemptOfChild } from './messages.ts'

export interface ChildContextFacts {
  link: ChildLink
  calls: ChildCalls
  serial: number
  attempt: AttemptOfChild
}

/** What a handler in a child is given. The worker does with its own context what is asked of this one. */
export class ChildContext implements JobContext {
  readonly runId: string
  readonly attempt: number
  readonly tickAt?: Date
  readonly schedule?: string
  readonly parentId?: string
  readonly log: JobLog
  readonly #calls: ChildCalls
  readonly #serial: number
  readonly #controller = new AbortController()
  #ended = false

  constructor({ link, calls, serial, attempt }: ChildContextFacts) {
    this.runId = attempt.runId
    this.attempt = attempt.attempt
    if (attempt.tickAt !== undefined) this.tickAt = attempt.tickAt
    if (attempt.schedule !== undefined) this.schedule = attempt.schedule
    if (attempt.parentId !== undefined) this.parentId = attempt.parentId
    this.log = childLog(link, serial)
    this.#calls = calls
    this.#serial = serial
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  async progress(value: unknown): Promise<void> {
    if (this.#ended) return
    await this.#calls.ask(this.#serial, 'progress', [sayable(value)])
  }

  async enqueue(
    job: TypedJob<z.ZodType> | NamedJob,
    payload: unknown,
    options: EnqueueOptions = {},
  ): Promise<string> {
    const [id] = await this.enqueueMany(job, [payload], asManyOptions(job, options))
    if (id === undefined) throw new Error('one payload in, no id out')
    return id
  }

  /** The code of a job can't be sent: its payload is checked here, and its name goes. */
  async enqueueMany(
    given: TypedJob<z.ZodType> | NamedJob,
    payloads: readonly unknown[],
    options: EnqueueManyOptions = {},
  ): Promise<string[]> {
    if (this.#ended) throw new AttemptEndedError(this.runId, this.attempt)
    const { name, queue, payload: schema, searchable, redact, encrypt } = given
    if (schema)
      await Promise.all(payloads.map((each) => checkRunPayload({ name, payload: schema }, each)))
    const rules = { searchable, redact, encrypt }
    const job: NamedJob = queue === undefined ? { name, ...rules } : { name, queue, ...rules }
    const ids = await this.#calls.ask(this.#serial, 'enqueueMany', [job, payloads, options])
    return ids as string[]
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** The handler has ended. */
  end(): void {
    this.#ended = true
  }
}

/** A value as JSON has it, so that it can be sent; where JSON can't say it, the note that the worker makes of one. */
function sayable(value: unknown): unknown {
  try {
    const json = JSON.stringify(value) as string | undefined
    return json && (JSON.parse(json) as unknown)
  } catch (error) {
    return { unserialisable: runError(error).message }
  }
}
