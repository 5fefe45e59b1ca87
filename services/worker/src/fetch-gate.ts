import { ALERTS_QUEUE } from '@jadwal/domain'
import type { RunWorker } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'

const FIRST_HOLD_MS = 500
const LONGEST_HOLD_MS = 5_000
/** So long without a refusal, and the next one is a first one again. */
const CALM_MS = 10_000

type Reason = 'memory' | 'refused'

type Fetcher = Pick<RunWorker, 'queue' | 'pause' | 'resume'>

/**
 * Holds the fetching of runs while there is a reason to, without touching what is in hand. Messages of alerts
 * are fetched while memory is short: they are few, and tell people of it.
 */
export class FetchGate {
  readonly #workers: readonly Fetcher[]
  readonly #log: Logger
  readonly #reasons = new Set<Reason>()
  #holdMs = FIRST_HOLD_MS
  #release: NodeJS.Timeout | undefined
  #calm: NodeJS.Timeout | undefined

  constructor(workers: readonly Fetcher[], log: Logger) {
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
    const held = this.#workers.filter((worker) => isHeldBy(reason, worker))
    await Promise.all(held.map((worker) => worker.pause()))
  }

  async release(reason: Reason): Promise<void> {
    if (!this.#reasons.delete(reason)) return
    if (!this.isHeld) this.#log.info({ reason }, 'taking runs again')
    const free = this.#workers.filter(
      (worker) => ![...this.#reasons].some((other) => isHeldBy(other, worker)),
    )
    await Promise.all(free.map((worker) => worker.resume()))
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

function isHeldBy(reason: Reason, { queue }: Fetcher): boolean {
  return reason === 'refused' || queue !== ALERTS_QUEUE
}
