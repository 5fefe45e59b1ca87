/** What makes runs at a rate: a redrive, a backfill. */
export interface Paced {
  id: string
  /** Runs a second at most; null without a limit. */
  rate: number | null
}

/** How many runs each may make in a round, by its rate. */
export class Pace {
  /** Of a round: how long it is, and how many runs it makes at most. */
  readonly #round: { ms: number; runs: number }
  /** When each may make runs again. */
  readonly #nextAtMs = new Map<string, number>()

  constructor(round: { ms: number; runs: number }) {
    this.#round = round
  }

  /** How many it may make now: none too early, no burst after a wait. */
  allowed({ id, rate }: Paced, nowMs: number): number {
    const { ms, runs } = this.#round
    if (rate === null) return runs
    if (nowMs < (this.#nextAtMs.get(id) ?? nowMs)) return 0
    return Math.min(runs, Math.max(1, Math.floor((rate * ms) / 1_000)))
  }

  /** It has made so many. */
  spend({ id, rate }: Paced, { runs, nowMs }: { runs: number; nowMs: number }): void {
    if (rate === null || runs === 0) return
    const fromMs = Math.max(this.#nextAtMs.get(id) ?? nowMs, nowMs - this.#round.ms)
    this.#nextAtMs.set(id, fromMs + (runs / rate) * 1_000)
  }

  /** Forgets all but these. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#nextAtMs.keys()) if (!ids.has(id)) this.#nextAtMs.delete(id)
  }
}
