import type { RedriveRow } from '@jadwal/db'
import type { RedisClock } from '@jadwal/queue'

type Paced = Pick<RedriveRow, 'id' | 'rate'>

/** How many runs redrives may make, by their rates. */
export class RedrivePace {
  readonly #redisClock: RedisClock
  /** Of a round: how long it is, and how many letters it takes at most. */
  readonly #round: { ms: number; letters: number }
  /** When each may make runs again. */
  readonly #nextAtMs = new Map<string, number>()

  constructor(redisClock: RedisClock, round: { ms: number; letters: number }) {
    this.#redisClock = redisClock
    this.#round = round
  }

  /** How many it may make now: no burst after a wait. */
  allowed({ id, rate }: Paced): number {
    const { ms, letters } = this.#round
    if (rate === null) return letters
    const nowMs = this.#redisClock.nowMs()
    if (nowMs < (this.#nextAtMs.get(id) ?? nowMs)) return 0
    return Math.min(letters, Math.max(1, Math.floor((rate * ms) / 1_000)))
  }

  spend({ id, rate }: Paced, runs: number): void {
    if (rate === null || runs === 0) return
    const nowMs = this.#redisClock.nowMs()
    const fromMs = Math.max(this.#nextAtMs.get(id) ?? nowMs, nowMs - this.#round.ms)
    this.#nextAtMs.set(id, fromMs + (runs / rate) * 1_000)
  }

  /** Forgets all but these. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#nextAtMs.keys()) if (!ids.has(id)) this.#nextAtMs.delete(id)
  }
}
