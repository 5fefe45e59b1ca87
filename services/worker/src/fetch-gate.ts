import type { RunWorker } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'

const FIRST_HOLD_MS = 500
const LONGEST_HOLD_MS = 5_000
/** So long without a refusal, and the next one is a first one again. */
const CALM_MS = 10_000

type Reason = 'memory' | 'refused'

/** Holds all fetching of runs while there is a reason to, without touching what is in hand. */
export class FetchGate {
  readonly #workers: readonly RunWorker[]
  readonly #log: Logger
  readonly #reasons = new Set<Reason>()
  #holdMs = FIRST_HOLD_MS
  #release: NodeJS.Timeout | undefined
  #calm: NodeJS.Timeout | undefined

  constructor(workers: readonly RunWorker[], log: Logger) {
    this.#workers = workers
    this.#log = log
  }

  get isHeld(): boolean {
    return this.#reasons.size > 0
  }

  isHeldFor(reason: Reason): boolean {
    return this.#reasons.has(reason)
  }

  async hold(reason: Reason): Promise<void> {
    if (this.#reasons.has(reason)) return
    this.#reasons.add(reason)
    this.#log.warn({ reason }, 'taking no runs for now')
    await Promise.all(this.#workers.map((worker) => worker.pause()))
  }

  async release(reason: Reason): Promise<void> {
    if (!this.#reasons.delete(reason) || this.isHeld) return
    this.#log.info({ reason }, 'taking runs again')
    await Promise.all(this.#workers.map((worker) => worker.resume()))
  }

  /** Redis answers but refuses: BullMQ would ask again without a pause, so it is made to pause. */
  async refused(): Promise<void> {
    if (this.#release) return
    this.#release = setTimeout(() => {
      this.#release = undefined
      void this.release('refused')
    }, this.#holdMs).unref()
    this.#holdMs = Math.min(this.#holdMs * 2, LONGEST_HOLD_MS)
    clearTimeout(this.#calm)
    this.#calm = setTimeout(() => {
      this.#holdMs = FIRST_HOLD_MS
    }, CALM_MS).unref()
    await this.hold('refused')
  }

  close(): void {
    clearTimeout(this.#release)
    clearTimeout(this.#calm)
  }
}
