import { tailText, wholeText } from './safe-text.ts'

/** Keeps the last bytes of an output of any length. */
export class OutputTail {
  readonly #limit: number
  #chunks: Buffer[] = []
  #kept = 0
  #seen = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#kept += chunk.length
    this.#seen += chunk.length
    // Copies only once per `limit` bytes, and does not hold a thousand tiny chunks for ever.
    if (this.#kept >= 2 * this.#limit || this.#chunks.length >= 1_024) this.#compact()
  }

  /** Whether anything was dropped. */
  get truncated(): boolean {
    return this.#seen > this.#limit
  }

  text(): string {
    this.#compact()
    const bytes = this.#chunks[0] ?? Buffer.alloc(0)
    return this.truncated ? tailText(bytes) : wholeText(bytes)
  }

  #compact(): void {
    const all = Buffer.concat(this.#chunks)
    const tail = Buffer.from(all.subarray(Math.max(0, all.length - this.#limit)))
    this.#chunks = [tail]
    this.#kept = tail.length
  }
}
