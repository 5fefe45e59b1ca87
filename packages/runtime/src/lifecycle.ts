import type { Logger } from './logger.ts'

type Closing = () => Promise<void> | void

/**
 * What is opened registers its own closing; `close` runs them newest first, each after the one before
 * has ended. A closing that fails is logged and the others still run.
 */
export class Lifecycle implements AsyncDisposable {
  readonly #log: Logger
  readonly #closings: { name: string; closing: Closing }[] = []
  #closed: Promise<void> | undefined

  constructor(log: Logger) {
    this.#log = log
  }

  /** What is registered after `close` was called is closed in the same go. */
  onClose(name: string, closing: Closing): void {
    this.#closings.push({ name, closing })
  }

  /** Never rejects. Called again, it gives the same promise. */
  async close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    await this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #closeAll(): Promise<void> {
    for (let next = this.#closings.pop(); next; next = this.#closings.pop()) {
      try {
        await next.closing()
        this.#log.debug({ part: next.name }, 'part closed')
      } catch (error) {
        this.#log.error({ err: error, part: next.name }, 'part did not close')
      }
    }
  }
}
