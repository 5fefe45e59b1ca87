import type { Clock } from '@jadwal/domain'

/** Everybody who asks for the same within this time gets the same answer. */
const FRESH_MS = 5_000
const MOST_KEPT = 500

/** The latest answers of the board, shared by all tabs of all who may see the same. */
export class BoardAnswers {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #kept = new Map<string, { atMs: number; answer: Promise<string> }>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** The answer under a key, made when there is none that is fresh. One that failed is not kept. */
  async get(key: string, make: () => Promise<string>): Promise<string> {
    const nowMs = this.#clock.monotonicMs()
    const kept = this.#kept.get(key)
    if (kept && nowMs - kept.atMs < FRESH_MS) return await kept.answer
    this.#dropOld(nowMs)
    const answer = make()
    this.#kept.set(key, { atMs: nowMs, answer })
    answer.catch(() => this.#kept.delete(key))
    return await answer
  }

  /** Something was changed: whoever did so looks for it at once. */
  forget(): void {
    this.#kept.clear()
  }

  #dropOld(nowMs: number): void {
    for (const [key, { atMs }] of this.#kept)
      if (nowMs - atMs >= FRESH_MS || this.#kept.size >= MOST_KEPT) this.#kept.delete(key)
  }
}
