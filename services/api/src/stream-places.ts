import { Problem } from './problem.ts'

/** Bounds how many streams of one kind a process serves at once. */
export class StreamPlaces {
  readonly #most: number
  readonly #rule: string
  #taken = 0

  /** `rule` is what those who come when there is no place are told. */
  constructor(most: number, rule: string) {
    this.#most = most
    this.#rule = rule
  }

  /** Returns what gives the place back, to be called once. Throws a `Problem` when there is none. */
  take(): () => void {
    if (this.#taken >= this.#most) throw this.refusal()
    this.#taken += 1
    return () => {
      this.#taken -= 1
    }
  }

  refusal(): Problem {
    return new Problem('too-many-streams', {
      detail: this.#rule,
      headers: { 'Retry-After': '10' },
    })
  }
}
