import type { Redis } from 'ioredis'
import { type CancelReason, readReason } from './cancel-run.ts'
import { cancelChannel, cancelsKey } from './keys.ts'
import { subscribe } from './subscribe.ts'

/** Marks that were heard of, for runs that are only just being taken up: at most so many. */
const REMEMBERED = 10_000

export interface CancelWatchOptions {
  redis: Redis
  url: string
  prefix: string
  queues: readonly string[]
  onError: (error: Error) => void
}

/**
 * Tells a worker which of its runs are to be cancelled: at once, over a channel; and, as a message may
 * be missed, whenever it looks at the marks.
 */
export class CancelWatch {
  readonly #options: CancelWatchOptions
  readonly #heard = new Set<string>()
  readonly #subscription: { close(): void }

  /** `onCancel` may be told of runs that are not in hand here, and more than once. */
  constructor(
    options: CancelWatchOptions,
    onCancel: (runId: string, reason: CancelReason) => void,
  ) {
    this.#options = options
    const { url, prefix, queues, onError } = options
    const hear = (text: string): void => {
      const [id = '', reason] = text.split(' ')
      this.#remember(id)
      onCancel(id, readReason(reason))
    }
    const channels = queues.map((queue) => [cancelChannel(prefix, queue), hear] as const)
    this.#subscription = subscribe({ url, channels: Object.fromEntries(channels), onError })
  }

  /** Whether a run was to be cancelled; its mark says whether it still is. */
  heardOf(runId: string): boolean {
    return this.#heard.has(runId)
  }

  /** Reads the marks of all queues: run id → reason. */
  async look(): Promise<Map<string, CancelReason>> {
    const { redis, prefix, queues } = this.#options
    const marks = new Map<string, CancelReason>()
    for (const queue of queues) {
      for (const [id, reason] of Object.entries(await redis.hgetall(cancelsKey(prefix, queue))))
        marks.set(id, readReason(reason))
    }
    return marks
  }

  close(): void {
    this.#subscription.close()
  }

  #remember(id: string): void {
    if (this.#heard.size >= REMEMBERED) this.#heard.clear()
    this.#heard.add(id)
  }
}
