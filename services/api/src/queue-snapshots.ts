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
import { SharedLook } from './shared-look.ts'

export interface QueueSnapshot {
  queues: QueueCounts[]
  /** Alerts that are open. */
  alerts: AlertState[]
  workers: WorkerInfo[]
  /** Entries in the outbox of the leaders' terms. */
  termsOutboxDepth: number
}

const FRESH_MS = 5_000

/** Counts what lies in Redis, for scrapes and the page: at most once in 5 s however many ask. */
export class QueueSnapshots {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #clock: Clock
  readonly #shared: SharedLook<QueueSnapshot>

  constructor(deps: { redis: Redis; prefix: string; clock: Clock }) {
    this.#redis = deps.redis
    this.#prefix = deps.prefix
    this.#clock = deps.clock
    this.#shared = new SharedLook(() => this.take(), FRESH_MS, deps.clock)
  }

  /** Rejects when Redis is away. */
  async recent(): Promise<QueueSnapshot> {
    return await this.#shared.recent()
  }

  /** What is asked for next is counted anew. */
  forget(): void {
    this.#shared.forget()
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
