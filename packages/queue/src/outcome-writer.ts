import type { Outcome, WriteOutcomes } from './outcome-script.ts'
import { PASSING } from './passing-refusal.ts'
import { isRedisError } from './redis-errors.ts'

/** At most this many facts, and about this much text, in one entry of an outbox. */
const MAX_OUTCOMES = 500
const MAX_TEXT_LENGTH = 1024 * 1024
const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 2_000

const CLOSED = 'Connection is closed.'

interface Waiting {
  outcome: Outcome
  settle: (accepted: boolean) => void
}

export interface OutcomeWriterDeps {
  write: WriteOutcomes
  onError: (error: Error) => void
}

/**
 * Collects the outcomes that come up in one turn of the event loop and writes them together. While
 * Redis is away they wait; once it is back the script decides which attempts still hold their lock.
 */
export class OutcomeWriter {
  readonly #deps: OutcomeWriterDeps
  #waiting: Waiting[] = []
  #textLength = 0
  #scheduled = false

  constructor(deps: OutcomeWriterDeps) {
    this.#deps = deps
  }

  /** Resolves to whether the outcome counts. False: the attempt was lost, or the connection was closed. */
  write(outcome: Outcome): Promise<boolean> {
    return new Promise((settle) => {
      this.#waiting.push({ outcome, settle })
      this.#textLength += outcome.facts.length
      if (this.#waiting.length >= MAX_OUTCOMES || this.#textLength >= MAX_TEXT_LENGTH) this.#flush()
      else if (!this.#scheduled) {
        this.#scheduled = true
        setImmediate(() => this.#flush())
      }
    })
  }

  #flush(): void {
    this.#scheduled = false
    const batch = this.#waiting
    if (batch.length === 0) return
    this.#waiting = []
    this.#textLength = 0
    void this.#send(batch)
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    for (
      let backoffMs = FIRST_BACKOFF_MS;
      ;
      backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS)
    ) {
      try {
        const refused = await this.#deps.write(batch.map((waiting) => waiting.outcome))
        for (const [position, waiting] of batch.entries()) waiting.settle(!refused.has(position))
        return
      } catch (error) {
        const reason = error instanceof Error ? error : new Error(String(error))
        this.#deps.onError(reason)
        if (!isRedisError(reason, PASSING)) return this.#giveUp(batch, reason)
      }
      await new Promise((resolve) => setTimeout(resolve, backoffMs))
    }
  }

  /** One outcome that Redis cannot take must not take the others down with it. */
  async #giveUp(batch: readonly Waiting[], reason: Error): Promise<void> {
    if (batch.length === 1 || reason.message === CLOSED) {
      for (const waiting of batch) waiting.settle(false)
      return
    }
    const half = Math.ceil(batch.length / 2)
    await this.#send(batch.slice(0, half))
    await this.#send(batch.slice(half))
  }
}
