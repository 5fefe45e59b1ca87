const FIRST_MS = 500
const LONGEST_MS = 15_000
/** Who lived that long is healthy again, and its next restart is quick. */
const HEALTHY_AFTER_MS = 30_000

/** How long to wait before each restart: 0.5 s, doubled each time up to 15 s. */
export class RestartBackoff {
  #nextMs = FIRST_MS

  /** To be asked when a process has ended that lived for `livedMs`. */
  delayMs(livedMs: number): number {
    if (livedMs >= HEALTHY_AFTER_MS) this.#nextMs = FIRST_MS
    const delay = this.#nextMs
    this.#nextMs = Math.min(delay * 2, LONGEST_MS)
    return delay
  }
}
