import type { Clock } from '@jadwal/domain'

/**
 * One look for all who ask within some seconds, failed ones included, so that a server in trouble is not
 * asked more than a healthy one.
 */
export class SharedLook<T> {
  readonly #take: () => Promise<T>
  readonly #freshMs: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #last: Promise<T> | undefined
  #takenAtMs = -Infinity

  constructor(take: () => Promise<T>, freshMs: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#take = take
    this.#freshMs = freshMs
    this.#clock = clock
  }

  /** What was seen within the last `freshMs`. Rejects as the look did. */
  async recent(): Promise<T> {
    const nowMs = this.#clock.monotonicMs()
    if (!this.#last || nowMs - this.#takenAtMs >= this.#freshMs) {
      this.#takenAtMs = nowMs
      this.#last = this.#take()
    }
    return await this.#last
  }

  /** Who asks next is answered by a look of their own. */
  forget(): void {
    this.#takenAtMs = -Infinity
  }
}
