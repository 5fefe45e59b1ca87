import type { Clock } from '@jadwal/domain'
import type { FetchGate } from './fetch-gate.ts'

const LOOK_MS = 10_000
/** So long without a run taken, while runs wait and a hand is free. */
const STUCK_AFTER_MS = 60_000

/** One queue's worker, as far as it can be seen from outside whether its loop moves. */
export interface Fetching {
  readonly queue: string
  readonly concurrency: number
  readonly inHand: number
  /** Grows with each run that it takes. */
  readonly taken: number
}

export interface FetchWatchDeps {
  workers: readonly Fetching[]
  gate: Pick<FetchGate, 'isHeld'>
  /** Whether a queue has runs that could be taken. */
  workWaits: (queue: string) => Promise<boolean>
  clock: Clock
}

/**
 * Notices a loop that fetches no runs although it could, whatever the cause: it looks, each 10 s, at
 * the queues of which no run was taken since. A worker that is busy costs Redis nothing by that.
 */
export class FetchWatch {
  readonly #deps: FetchWatchDeps
  readonly #takenBefore = new Map<string, number>()
  /** By queue, since when (monotonic ms) runs wait for a loop that does not move. */
  readonly #stillSince = new Map<string, number>()

  constructor(deps: FetchWatchDeps) {
    this.#deps = deps
  }

  /** Returns ms until the next look. */
  async look(): Promise<number> {
    for (const worker of this.#deps.workers) {
      if (await this.#isStill(worker)) {
        if (!this.#stillSince.has(worker.queue))
          this.#stillSince.set(worker.queue, this.#deps.clock.monotonicMs())
      } else this.#stillSince.delete(worker.queue)
    }
    return LOOK_MS
  }

  /** A sentence for each queue whose loop has not moved for a minute with work waiting. */
  stuck(): string[] {
    const nowMs = this.#deps.clock.monotonicMs()
    return [...this.#stillSince].flatMap(([queue, sinceMs]) =>
      nowMs - sinceMs < STUCK_AFTER_MS
        ? []
        : [`no run was taken from the queue ${queue} for a minute, though some wait`],
    )
  }

  async #isStill({ queue, concurrency, inHand, taken }: Fetching): Promise<boolean> {
    const before = this.#takenBefore.get(queue)
    this.#takenBefore.set(queue, taken)
    const { gate, workWaits } = this.#deps
    if (taken !== before || inHand >= concurrency || gate.isHeld) return false
    return await workWaits(queue)
  }
}
