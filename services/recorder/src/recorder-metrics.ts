import type { RecordedFacts } from '@jadwal/db'
import { Counter, Gauge, type Registry } from 'prom-client'

export class RecorderMetrics {
  readonly #recorded: Counter<'kind'>
  readonly #rejected: Counter
  readonly #lag: Gauge

  constructor(registry: Registry) {
    const registers = [registry]
    this.#recorded = new Counter({
      name: 'jadwal_recorded_facts_total',
      help: 'Rows of the history that facts made or changed, by kind: run, attempt, term, letter, audit',
      labelNames: ['kind'],
      registers,
    })
    this.#rejected = new Counter({
      name: 'jadwal_rejected_facts_total',
      help: 'Facts that Postgres refused and that were put aside',
      registers,
    })
    this.#lag = new Gauge({
      name: 'jadwal_outbox_lag_seconds',
      help: 'Age of the oldest entry of any outbox that is not recorded; 0 when there is none',
      registers,
    })
    this.recorded({ runs: 0, attempts: 0, terms: 0, letters: 0, audits: 0 })
  }

  recorded({ runs, attempts, terms, letters, audits }: RecordedFacts): void {
    this.#recorded.inc({ kind: 'run' }, runs)
    this.#recorded.inc({ kind: 'attempt' }, attempts)
    this.#recorded.inc({ kind: 'term' }, terms)
    this.#recorded.inc({ kind: 'letter' }, letters)
    this.#recorded.inc({ kind: 'audit' }, audits)
  }

  rejected(): void {
    this.#rejected.inc()
  }

  lag(ms: number): void {
    this.#lag.set(ms / 1_000)
  }
}
