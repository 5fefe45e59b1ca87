import type { Clock } from '@jadwal/domain'
import type { CancelReason, StartedRun } from '@jadwal/queue'
import type { z } from 'zod'
import { AbandonedError } from './abandoned-error.ts'
import { asManyOptions } from './check-run.ts'
import type { EnqueueManyOptions, EnqueueOptions } from './enqueue-options.ts'
import { abortReason, GRACE_MS, type Interruption } from './interruption.ts'
import type { JobContext, JobLog, NamedJob, TypedJob } from './job-context.ts'
import { AttemptEndedError, TimeoutError } from './job-errors.ts'
import type { AnyJob } from './job.ts'
import { KeptLog, keptLog } from './kept-log.ts'
import { type ChildOutlet, RunChildren } from './run-children.ts'
import { type Mask, maskedLog } from './secret-mask.ts'
import { shownProgress } from './shown-progress.ts'

/** How late a timeout may be noticed of an attempt whose clock was stopped. */
const LOOK_WHILE_STOPPED_MS = 100

export type AttemptEnd =
  | { kind: 'returned'; value: unknown }
  | { kind: 'threw'; error: unknown }
  | { kind: 'drained' }
  | { kind: 'lost' }
  /** `abandoned`: the handler did not heed its signal, and whatever it still does counts for nothing. */
  | { kind: 'cancelled'; reason: CancelReason; abandoned: boolean }

/** What an attempt needs to know of its run. */
export type AttemptRun = Pick<StartedRun, 'id' | 'attempt' | 'message' | 'progress' | 'log'>

/** Where a handler's lines go: a log that makes children, as pino does. */
export interface AttemptLog {
  child(facts: object): JobLog
}

export interface AttemptFacts<Run> {
  run: Run
  job: AnyJob
  log: AttemptLog
  /** Hides the secrets of the payload in what the handler logs and tells. */
  mask: Mask | undefined
  clock: Clock
  /** Where the runs go that the handler enqueues. */
  children: ChildOutlet
  /** On the monotonic clock, like all times in here. */
  startedMs: number
}

/**
 * One call of a handler, and the context that the handler gets. Most handlers never ask for the
 * signal or the log, so both are made when first asked for.
 */
export class Attempt<Run extends AttemptRun = StartedRun> implements JobContext {
  readonly run: Run
  readonly job: AnyJob
  readonly startedMs: number
  readonly timeoutMs: number
  readonly tickAt?: Date
  readonly schedule?: string
  readonly parentId?: string
  /** When this attempt has to be looked at: it is too long, or was told to end and did not. */
  nextCheckMs: number
  /** Whether the history was told that it runs. */
  announced = false
  readonly #log: AttemptLog
  readonly #mask: Mask | undefined
  readonly #clock: Clock
  readonly #outlet: ChildOutlet
  #kept: KeptLog | undefined
  #children: RunChildren | undefined
  #ownLog: JobLog | undefined
  #controller: AbortController | undefined
  #interruption: Interruption | undefined
  #settle: ((end: AttemptEnd) => void) | undefined
  #handlerEnded = false
  #clockStopped = false
  #onHandlerEnd: (() => void) | undefined

  constructor({ run, job, log, mask, clock, children, startedMs }: AttemptFacts<Run>) {
    this.run = run
    this.job = job
    this.startedMs = startedMs
    this.timeoutMs = run.message.timeoutMs ?? job.timeoutMs
    this.nextCheckMs = startedMs + this.timeoutMs
    this.#log = log
    this.#mask = mask
    this.#clock = clock
    this.#outlet = children
    const { schedule, parentId } = run.message
    if (parentId !== undefined) this.parentId = parentId
    if (schedule) this.schedule = schedule.name
    if (schedule?.tickAt !== undefined) this.tickAt = new Date(schedule.tickAt)
  }

  get runId(): string {
    return this.run.id
  }

  get attempt(): number {
    return this.run.attempt
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#interruption)
        this.#controller.abort(abortReason(this.#interruption, this.timeoutMs))
    }
    return this.#controller.signal
  }

  get log(): JobLog {
    this.#ownLog ??= this.#openLog()
    return this.#ownLog
  }

  async progress(value: unknown): Promise<void> {
    if (this.#settle) await this.run.progress(shownProgress(value, this.#mask))
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

  async enqueueMany(
    job: TypedJob<z.ZodType> | NamedJob,
    payloads: readonly unknown[],
    options: EnqueueManyOptions = {},
  ): Promise<string[]> {
    if (!this.#settle) throw new AttemptEndedError(this.run.id, this.run.attempt)
    this.#children ??= new RunChildren(this.run.id, this.#outlet)
    return await this.#children.enqueueMany(job, payloads, options)
  }

  /** Calls the handler. Resolves when it has ended, or was told to and did not within its time. */
  call(payload: unknown): Promise<AttemptEnd> {
    return new Promise((resolve) => {
      this.#settle = resolve
      try {
        const returned = this.job.handler(payload, this)
        if (isThenable(returned)) {
          returned.then(
            (value: unknown) => this.#returned(value),
            (error: unknown) => this.#threw(error),
          )
        } else this.#returned(returned)
      } catch (error) {
        this.#threw(error)
      }
    })
  }

  /** Aborts the signal and gives the handler some time to end. */
  interrupt(why: Interruption, nowMs: number): void {
    if (this.#interruption && why !== 'lost') {
      // A worker that stops waits no longer for a handler that was told to end before.
      if (why === 'stop') this.nextCheckMs = Math.min(this.nextCheckMs, nowMs + GRACE_MS.stop)
      return
    }
    this.#interruption = why
    this.nextCheckMs = nowMs + GRACE_MS[why]
    this.#controller?.abort(abortReason(why, this.timeoutMs))
  }

  /** The handler can't begin yet: until `startClock` no time counts against its timeout. */
  stopClock(): void {
    this.#clockStopped = true
  }

  startClock(nowMs: number): void {
    this.#clockStopped = false
    if (!this.#interruption) this.nextCheckMs = nowMs + this.timeoutMs
  }

  /** Whether the handler has not returned yet; true for ever of one that never does. */
  get isHandlerRunning(): boolean {
    return !this.#handlerEnded
  }

  /** Calls back once, when the handler of an attempt that was ended without it ends after all. */
  onHandlerEnd(callback: () => void): void {
    this.#onHandlerEnd = callback
  }

  /** An error that no handler caught is put down to this attempt, which ends with it at once. */
  crash(error: unknown): void {
    this.#controller?.abort(error)
    this.#end({ kind: 'threw', error })
  }

  /** Looks whether its time is over. Returns when to look again. */
  check(nowMs: number): number {
    if (nowMs < this.nextCheckMs) return this.nextCheckMs
    if (this.#interruption) this.#end(this.#interrupted({ abandoned: true }))
    else if (this.#clockStopped) this.nextCheckMs = nowMs + LOOK_WHILE_STOPPED_MS
    else this.interrupt('timeout', nowMs)
    return this.nextCheckMs
  }

  #openLog(): JobLog {
    const facts = { run: this.run.id, job: this.job.name, attempt: this.run.attempt }
    const log = this.#log.child(facts)
    this.#kept = new KeptLog(this.#clock, this.#mask)
    return keptLog(this.#mask ? maskedLog(log, this.#mask) : log, this.#kept)
  }

  #returned(value: unknown): void {
    this.#handlerHasEnded()
    // A handler that made it in spite of a stop has done its work; past its timeout it has failed.
    const counts = this.#interruption === undefined || this.#interruption === 'stop'
    this.#end(counts ? { kind: 'returned', value } : this.#interrupted())
  }

  #threw(error: unknown): void {
    this.#handlerHasEnded()
    this.#end(this.#interruption ? this.#interrupted() : { kind: 'threw', error })
  }

  #interrupted({ abandoned = false } = {}): AttemptEnd {
    const why = this.#interruption
    if (why === 'lost') return { kind: 'lost' }
    if (why === 'stop') return { kind: 'drained' }
    if (why === 'cancelled' || why === 'superseded')
      return { kind: 'cancelled', reason: why, abandoned }
    const error = abandoned
      ? new AbandonedError(`took longer than its timeout of ${this.timeoutMs} ms`)
      : new TimeoutError(this.timeoutMs)
    return { kind: 'threw', error }
  }

  #handlerHasEnded(): void {
    this.#handlerEnded = true
    this.#onHandlerEnd?.()
  }

  #end(end: AttemptEnd): void {
    if (!this.#settle) return
    this.run.log = this.#kept?.toJson()
    this.#settle(end)
    this.#settle = undefined
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value !== null &&
    typeof value === 'object' &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
