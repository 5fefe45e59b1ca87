import type { Clock } from '@jadwal/domain'
import { type JobContext, PermanentError } from '@jadwal/sdk'
import { answer, writeLog } from './calls.ts'
import type { Child, ChildEnd, ChildListener } from './child.ts'
import { endedInAttempt } from './child-error.ts'
import type { AttemptOfChild, FromChild } from './messages.ts'
import { receivedThrown, sentError } from './sent-error.ts'

export interface IsolatedAttemptFacts {
  child: Child
  attempt: AttemptOfChild
  /** Of the attempt in this process: what the handler asks of its own is done with this one. */
  ctx: JobContext
  clock: Clock
  /** Until when (monotonic ms) the handler may end once its signal has aborted; a stop may bring it forward. */
  graceEndMs: () => number
}

/** The part of its grace after which a handler that does not heed its signal is ended with its child. */
const PART_OF_GRACE = 0.8
const LONGEST_KILL_MS = 4_000
/** How often it is looked whether the grace has become shorter. */
const LOOK_MS = 100

/** An attempt that a child makes, as the worker sees it. */
export class IsolatedAttempt implements ChildListener {
  readonly #facts: IsolatedAttemptFacts
  readonly #serial: number
  #resolve: (value: unknown) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined
  #killTimer: NodeJS.Timeout | undefined
  #killed = false
  #crash: { error: unknown } | undefined

  constructor(facts: IsolatedAttemptFacts) {
    this.#facts = facts
    facts.child.made += 1
    this.#serial = facts.child.made
  }

  /**
   * Settles as the handler does. Rejects with a `ChildError` when the child ends before it, and with the
   * signal's reason when the child had to be killed because the handler did not heed it.
   */
  async make(): Promise<unknown> {
    const { child, ctx } = this.#facts
    const end = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const abort = (): void => this.#abort()
    child.listener = this
    if (child.end) this.ended(child.end)
    this.#send()
    ctx.signal.addEventListener('abort', abort, { once: true })
    if (ctx.signal.aborted) abort()
    try {
      return await end
    } finally {
      ctx.signal.removeEventListener('abort', abort)
      clearTimeout(this.#killTimer)
    }
  }

  said(message: FromChild): void {
    const { child, ctx } = this.#facts
    if ('serial' in message && message.serial !== this.#serial) return
    switch (message.type) {
      case 'log':
        writeLog(ctx, message)
        return
      case 'call':
        void answer(child, ctx, message)
        return
      case 'returned':
        this.#resolve(message.result === undefined ? undefined : JSON.parse(message.result))
        return
      case 'threw':
        this.#reject(receivedThrown(message.error))
        return
      case 'crashed':
        this.#crash = { error: receivedThrown(message.error) }
        ctx.log.error('uncaught error in the child of the attempt, which ends with it')
        child.kill()
        return
      case 'ready':
      case 'failed':
    }
  }

  ended(end: ChildEnd): void {
    const { child, ctx } = this.#facts
    if (this.#crash) this.#reject(this.#crash.error)
    else this.#reject(this.#killed ? ctx.signal.reason : endedInAttempt(child.kind, end))
  }

  #send(): void {
    const { child, attempt } = this.#facts
    try {
      child.send({ type: 'make', serial: this.#serial, attempt })
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      const message =
        `the payload of ${attempt.job} must be what can be cloned, as the job is isolated: ` +
        `JSON, dates, maps, sets and bytes, but no functions or symbols (${why})`
      this.#reject(new PermanentError(message, { cause }))
    }
  }

  #abort(): void {
    const { child, ctx, clock } = this.#facts
    const reason = sentError(ctx.signal.reason as Error)
    child.send({ type: 'abort', serial: this.#serial, reason })
    this.#killWhenDue(clock.monotonicMs())
  }

  #killWhenDue(abortedMs: number): void {
    const { child, ctx, clock, graceEndMs } = this.#facts
    const afterMs = Math.min((graceEndMs() - abortedMs) * PART_OF_GRACE, LONGEST_KILL_MS)
    const leftMs = abortedMs + afterMs - clock.monotonicMs()
    if (leftMs > 0) {
      this.#killTimer = setTimeout(() => this.#killWhenDue(abortedMs), Math.min(leftMs, LOOK_MS))
      return
    }
    this.#killed = true
    ctx.log.warn('the handler did not heed its signal, so that its child is killed')
    child.kill()
  }
}
