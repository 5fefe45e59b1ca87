/** Wakes whoever waits. A ring while nobody waits wakes the next one at once. */
export class Bell {
  #rung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  /** Resolves at a ring, after `timeoutMs`, or when the signal aborts. For one waiter at a time. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted && timeoutMs > 0) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', wake)
          this.#wake = undefined
          resolve()
        }
        const timer = setTimeout(wake, timeoutMs)
        signal.addEventListener('abort', wake)
        this.#wake = wake
      })
    }
    this.#rung = false
  }
}
