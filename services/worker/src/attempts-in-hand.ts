import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '@jadwal/domain'
import type { CancelReason, StartedRun } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { AnyJob } from '@jadwal/sdk'
import { Attempt, type AttemptEnd, type AttemptInput, type ChildOutlet } from '@jadwal/sdk/attempts'
import type { AttemptMasks } from './attempt-masks.ts'

const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface AttemptsDeps {
  clock: Clock
  log: Logger
  /** Where the runs go that handlers enqueue. */
  children: ChildOutlet
  /** Hears what each attempt hides. */
  masks?: AttemptMasks
}

/**
 * The attempts that this process makes right now. One timer serves the timeouts of all: it is set only
 * when an attempt must be looked at earlier than any before it, so a plain attempt costs no timer.
 */
export class AttemptsInHand {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #children: ChildOutlet
  readonly #masks: AttemptMasks | undefined
  readonly #attempts = new Set<Attempt>()
  readonly #scope = new AsyncLocalStorage<Attempt>()
  #scoped = 0
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = Infinity
  #stopping = false
  #abandoned = 0

  constructor({ clock, log, children, masks }: AttemptsDeps) {
    this.#clock = clock
    this.#log = log
    this.#children = children
    this.#masks = masks
  }

  get size(): number {
    return this.#attempts.size
  }

  /** How many handlers still run whose attempts were ended without them. */
  get abandoned(): number {
    return this.#abandoned
  }

  [Symbol.iterator](): Iterator<Attempt> {
    return this.#attempts.values()
  }

  /** Makes an attempt: calls the job's handler and waits for its end. */
  async make(run: StartedRun, job: AnyJob, { payload, mask }: AttemptInput): Promise<AttemptEnd> {
    if (this.#stopping) return { kind: 'drained' }
    const attempt = new Attempt({
      run,
      job,
      mask,
      log: this.#log,
      clock: this.#clock,
      children: this.#children,
      startedMs: this.#clock.monotonicMs(),
    })
    this.#attempts.add(attempt)
    this.#lookAt(attempt.nextCheckMs)
    if (mask) this.#masks?.begin(mask)
    const end = await (run.attempt === 1
      ? attempt.call(payload)
      : this.#callInScope(attempt, payload))
    this.#attempts.delete(attempt)
    if (mask) this.#masks?.end(mask)
    if (attempt.isHandlerRunning) this.#leave(attempt)
    return end
  }

  /** Tells all attempts to end, and makes no further ones. */
  stop(): void {
    this.#stopping = true
    for (const attempt of this.#attempts) this.#interrupt(attempt, 'stop')
  }

  /** These runs are to be cancelled. */
  cancel(marks: ReadonlyMap<string, CancelReason>): void {
    if (marks.size === 0) return
    for (const attempt of this.#attempts) {
      const reason = marks.get(attempt.runId)
      if (reason) this.#interrupt(attempt, reason)
    }
  }

  /** These runs were lost to other workers. */
  lose(runIds: readonly string[]): void {
    const lost = new Set(runIds)
    for (const attempt of this.#attempts) {
      if (lost.has(attempt.runId)) this.#interrupt(attempt, 'lost')
    }
  }

  /**
   * Ends the attempt that an uncaught error came from and returns it; undefined when that can't be told.
   * To be called where the error is caught, as the answer depends on the asynchronous context.
   *
   * Following that context slows down every promise of the process on Node 20, so first attempts do
   * without: with one attempt in hand there is no doubt, and else what does not end within seconds
   * is put back and made again inside the context.
   */
  crash(error: unknown): Attempt | undefined {
    // What children make can't be the cause: their errors are in them.
    const here = [...this.#attempts].filter(({ job }) => job.isolate === undefined)
    const alone = here.length === 1 ? here[0] : undefined
    const culprit = this.#scope.getStore() ?? alone
    culprit?.crash(error)
    return culprit
  }

  async #callInScope(attempt: Attempt, payload: unknown): Promise<AttemptEnd> {
    this.#scoped += 1
    try {
      return await this.#scope.run(attempt, () => attempt.call(payload))
    } finally {
      this.#scoped -= 1
      if (this.#scoped === 0) this.#scope.disable()
    }
  }

  #leave(attempt: Attempt): void {
    this.#abandoned += 1
    attempt.onHandlerEnd(() => {
      this.#abandoned -= 1
    })
  }

  #interrupt(attempt: Attempt, why: 'stop' | 'lost' | CancelReason): void {
    attempt.interrupt(why, this.#clock.monotonicMs())
    this.#lookAt(attempt.nextCheckMs)
  }

  #lookAt(atMs: number): void {
    if (atMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    const waitMs = Math.min(Math.max(0, atMs - this.#clock.monotonicMs()), LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => this.#check(), Math.ceil(waitMs))
    this.#timer.unref()
  }

  #check(): void {
    this.#timerAtMs = Infinity
    const nowMs = this.#clock.monotonicMs()
    let nextMs = Infinity
    for (const attempt of this.#attempts) nextMs = Math.min(nextMs, attempt.check(nowMs))
    if (nextMs < Infinity) this.#lookAt(Math.max(nextMs, nowMs + 1))
  }
}
