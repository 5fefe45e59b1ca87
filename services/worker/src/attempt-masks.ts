import type { Mask } from '@jadwal/sdk/attempts'

/** An error that nobody caught may come after the end of its attempt: the masks of so many are kept. */
const MOST_ENDED = 100

/**
 * Hides in the log's errors what no attempt may tell: the secrets of this worker, and of the attempts in
 * hand what was put into their payloads or is redacted in them.
 */
export class AttemptMasks {
  readonly #always: Mask | undefined
  readonly #inHand = new Set<Mask>()
  #ended: Mask[] = []

  constructor(always: Mask | undefined) {
    this.#always = always
  }

  readonly hide: Mask = (text) => {
    let hidden = this.#always ? this.#always(text) : text
    for (const mask of this.#inHand) hidden = mask(hidden)
    for (const mask of this.#ended) hidden = mask(hidden)
    return hidden
  }

  begin(mask: Mask): void {
    this.#inHand.add(mask)
  }

  end(mask: Mask): void {
    this.#inHand.delete(mask)
    this.#ended = [...this.#ended.slice(1 - MOST_ENDED), mask]
  }
}
