import { Counter, Gauge, type Registry } from 'prom-client'

/** The metrics of a worker's health; their names are part of the public contract. */
export class HealthMetrics {
  readonly #lost: Counter
  readonly #renewed: Counter
  readonly #leftAlone: Counter<'queue' | 'reason'>

  /** `abandoned` tells how many handlers run on that were given up. */
  constructor(registry: Registry, abandoned: () => number) {
    const registers = [registry]
    this.#lost = new Counter({
      name: 'jadwal_lost_locks_total',
      help: 'Locks of runs in hand that could not be renewed: other workers may have them.',
      registers,
    })
    this.#renewed = new Counter({
      name: 'jadwal_lock_renewals_total',
      help: 'Locks of runs in hand that were renewed.',
      registers,
    })
    this.#leftAlone = new Counter({
      name: 'jadwal_left_alone_total',
      help: 'Times that a run was left for a worker of another version, by what is not known of it.',
      labelNames: ['queue', 'reason'],
      registers,
    })
    const handlers: Gauge = new Gauge({
      name: 'jadwal_abandoned_handlers',
      help: 'Handlers that did not heed their signal, were given up, and still run.',
      registers,
      collect: () => handlers.set(abandoned()),
    })
  }

  locksLost(count: number): void {
    this.#lost.inc(count)
  }

  locksRenewed(count: number): void {
    this.#renewed.inc(count)
  }

  leftAlone(queue: string, reason: 'form' | 'job'): void {
    this.#leftAlone.inc({ queue, reason })
  }
}
