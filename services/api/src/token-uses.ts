import { type Db, noteTokenUse } from '@jadwal/db'
import { type Clock, MINUTE, SECOND } from '@jadwal/domain'

/** A use is noted at most so often, and tried again after so long when it could not be. */
const NOTE_EACH_MS = MINUTE
const TRY_AGAIN_MS = 10 * SECOND
/** Tokens whose last use is remembered; more than can be live. */
const REMEMBERED = 10_000

/** Notes when tokens were last used, in the background and to the minute. */
export class TokenUses {
  readonly #db: Db
  readonly #clock: Clock
  /** Token id → when its use is to be noted next, by the monotonic clock. */
  readonly #nextAtMs = new Map<string, number>()
  readonly #noting = new Set<Promise<void>>()

  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  note(id: string): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < (this.#nextAtMs.get(id) ?? -Infinity)) return
    if (this.#nextAtMs.size >= REMEMBERED) this.#nextAtMs.clear()
    this.#nextAtMs.set(id, nowMs + NOTE_EACH_MS)
    const at = this.#clock.now()
    const noting = noteTokenUse(this.#db, id, { at, atLeastMs: NOTE_EACH_MS })
      // Postgres is away: nothing is lost but a minute of what is shown.
      .catch(() => void this.#nextAtMs.set(id, nowMs + TRY_AGAIN_MS))
      .finally(() => this.#noting.delete(noting))
    this.#noting.add(noting)
  }

  /** Resolves when nothing is under way. */
  async close(): Promise<void> {
    await Promise.all(this.#noting)
  }
}
