import { pollLoop } from '@jadwal/runtime'
import { claimAbandoned, type ClaimTimes } from './claim-abandoned.ts'
import type { RecordDeps } from './record-entries.ts'
import { recordOutboxes } from './record-outboxes.ts'

const LOOK_EACH_MS = 1_000

/** The recorder's loops, from the first read to the last acknowledgement. */
export class Recording {
  readonly #deps: RecordDeps
  readonly #stop = new AbortController()
  readonly #graceOver = new AbortController()
  readonly #giveUp: AbortSignal
  readonly #work: Promise<unknown>

  /** `hurry` gives up at once what the end of the grace would give up. */
  constructor(deps: RecordDeps, times: ClaimTimes, hurry: AbortSignal) {
    this.#deps = deps
    this.#giveUp = AbortSignal.any([hurry, this.#graceOver.signal])
    const signals = { stop: this.#stop.signal, giveUp: this.#giveUp }
    this.#work = Promise.all([
      pollLoop(() => this.#look(), { signal: signals.stop, log: deps.log, name: 'look' }),
      claimAbandoned(deps, times, signals),
      recordOutboxes(deps, signals),
    ])
  }

  /**
   * Records what is in hand and in the outboxes, for `graceMs` at most. `cutOff` is called when that
   * was not enough: it has to end commands that wait for a server to come back.
   */
  async finish(graceMs: number, cutOff: () => void): Promise<void> {
    this.#giveUp.addEventListener('abort', cutOff, { once: true })
    if (this.#giveUp.aborted) cutOff()
    const timer = setTimeout(() => this.#graceOver.abort(), graceMs)
    this.#stop.abort()
    await this.#work
    if (!this.#giveUp.aborted) await this.#deps.reader.leave()
    clearTimeout(timer)
  }

  /** Notices queues that are new, who listens, and how far behind the history is. */
  async #look(): Promise<number> {
    await this.#deps.teller.look()
    await this.#deps.reader.findOutboxes()
    this.#deps.metrics.lag(await this.#deps.reader.lagMs())
    return LOOK_EACH_MS
  }
}
