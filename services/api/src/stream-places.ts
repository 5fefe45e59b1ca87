import type { Caller } from './caller.ts'
import { Problem } from './problem.ts'

/** Bounds how many streams of one kind a process serves at once. One caller has three quarters of them at most. */
export class StreamPlaces {
  readonly #most: number
  readonly #mostOfOne: number
  readonly #rule: string
  #taken = 0
  readonly #takenBy = new Map<string, number>()

  /** `rule` is what those who come when there is no place are told. */
  constructor(most: number, rule: string) {
    this.#most = most
    this.#mostOfOne = Math.ceil((most * 3) / 4)
    this.#rule = rule
  }

  /** Returns what gives the place back, to be called once. Throws a `Problem` when there is none. */
  take({ tokenId, by, name }: Caller): () => void {
    const whose = tokenId ?? name
    const own = this.#takenBy.get(whose) ?? 0
    if (this.#taken >= this.#most) throw this.refusal()
    // Without tokens nobody can be told from others.
    if (own >= this.#mostOfOne && by !== 'nothing')
      throw this.refusal(`${name} has ${own} of them: the rest is for others.`)
    this.#taken += 1
    this.#takenBy.set(whose, own + 1)
    return () => this.#giveBack(whose)
  }

  refusal(why = ''): Problem {
    return new Problem('too-many-streams', {
      detail: `${this.#rule} ${why}`.trim(),
      headers: { 'Retry-After': '10' },
    })
  }

  #giveBack(whose: string): void {
    this.#taken -= 1
    const left = (this.#takenBy.get(whose) ?? 0) - 1
    if (left > 0) this.#takenBy.set(whose, left)
    else this.#takenBy.delete(whose)
  }
}
