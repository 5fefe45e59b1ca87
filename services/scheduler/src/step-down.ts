/** Hears of requests to step down. Each names the term that is to end, so a late one ends no other. */
export class StepDown {
  #reign: { term: number; end: () => void } | undefined

  heard(message: string): void {
    if (this.#reign?.term === Number(message)) this.#reign.end()
  }

  /** `end` is called when the term is asked to end. One reign at a time. */
  listen(term: number, end: () => void): void {
    this.#reign = { term, end }
  }

  stopListening(): void {
    this.#reign = undefined
  }
}
