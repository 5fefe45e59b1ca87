import type { AlertState, Clock, WorkerInfo } from '@jadwal/domain'
import {
  countQueues,
  countTermsOutbox,
  listQueues,
  type QueueCounts,
  readAlerts,
  readWorkers,
} from '@jadwal/queue'
import type { Redis } from 'ioredis'

export interface QueueSnapshot {
  queues: QueueCounts[]
  /** Alerts that are open. */
  alerts: AlertState[]
  workers: WorkerInfo[]
  /** Entries in the outbox of the leaders' terms. */
  termsOutboxDepth: number
}

const FRESH_MS = 5_000

/**
 * Counts what lies in Redis, for scrapes and the page: at most once in 5 s however many ask, the failed
 * ones included, so that a Redis in trouble is not asked more than a healthy one.
 */
export class QueueSnapshots {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #clock: Clock
  #last: Promise<QueueSnapshot> | undefined
  #takenAtMs = -Infinity

  constructor(deps: { redis: Redis; prefix: string; clock: Clock }) {
    this.#redis = deps.redis
    this.#prefix = deps.prefix
    this.#clock = deps.clock
  }

  /** Rejects when Redis is away. */
  async recent(): Promise<QueueSnapshot> {
    const nowMs = this.#clock.monotonicMs()
    if (!this.#last || nowMs - this.#takenAtMs >= FRESH_MS) {
      this.#takenAtMs = nowMs
      this.#last = this.take()
    }
    return await this.#last
  }

  /** What is asked for next is counted anew. */
  forget(): void {
    this.#takenAtMs = -Infinity
  }

  /** Counts right now. */
  async take(): Promise<QueueSnapshot> {
    const nowMs = this.#clock.now().getTime()
    const queues = await listQueues(this.#redis, this.#prefix)
    const [counts, workers, termsOutboxDepth, alerts] = await Promise.all([
      countQueues(this.#redis, this.#prefix, { queues, nowMs }),
      readWorkers(this.#redis, this.#prefix, nowMs),
      countTermsOutbox(this.#redis, this.#prefix),
      readAlerts(this.#redis, this.#prefix),
    ])
    const open = alerts.filter(({ phase }) => phase === 'open')
    return { queues: counts, workers, termsOutboxDepth, alerts: open }
  }
}
