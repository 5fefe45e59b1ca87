import { EXIT } from './exit-code.ts'
import type { Logger } from './logger.ts'

/** What the closings get beyond the grace before the process ends by force. */
const DEADLINE_AFTER_GRACE_MS = 10_000

type CrashHandler = (error: unknown) => Promise<void> | void

/**
 * Listens for all that can end the process: SIGTERM, SIGINT, the end of the parent's channel, an
 * uncaught error. Each begins one gentle stop, with a deadline; being asked again only hurries it.
 *
 * SIGUSR2 asks for the same gentle stop, so that a supervisor starts the code that is installed by
 * then. Whoever deploys is in no hurry: it hurries nothing, and the signal after it is a first one.
 */
export class EndWatch {
  readonly #log: Logger
  readonly #graceMs: number
  readonly #stop = new AbortController()
  readonly #hurry = new AbortController()
  #handleCrash: CrashHandler | undefined
  #crashed = false
  /** Whether somebody asked for the end, and not just for another start. */
  #isAsked = false
  #resolveStopped: () => void = () => undefined

  /** Resolves when the service shall close, after the crash handler had its say. */
  readonly stopped = new Promise<void>((resolve) => {
    this.#resolveStopped = resolve
  })

  constructor(log: Logger, graceMs: number) {
    this.#log = log
    this.#graceMs = graceMs
    process.on('SIGTERM', (signal) => this.#asked(signal))
    process.on('SIGINT', (signal) => this.#asked(signal))
    process.on('SIGUSR2', (signal) => this.#stopOnce(signal))
    process.once('disconnect', () => this.#asked('parent is gone'))
    if (process.send && !process.connected) this.#asked('parent is gone')
    process.on('uncaughtException', (error) => void this.#crash(error))
    process.on('unhandledRejection', (error) => void this.#crash(error))
  }

  get stop(): AbortSignal {
    return this.#stop.signal
  }

  get hurry(): AbortSignal {
    return this.#hurry.signal
  }

  get exitCode(): number {
    return this.#crashed ? EXIT.software : EXIT.ok
  }

  onCrash(handle: CrashHandler): void {
    this.#handleCrash = handle
  }

  #asked(reason: string): void {
    if (this.#isAsked || this.#crashed) {
      if (!this.hurry.aborted) this.#log.warn({ reason }, 'asked again to stop, hurrying')
      this.#hurry.abort()
      return
    }
    this.#isAsked = true
    this.#stopOnce(reason)
  }

  #stopOnce(reason: string): void {
    if (this.stop.aborted) {
      this.#log.info({ reason }, 'stopping already')
      return
    }
    this.#log.info({ reason, graceMs: this.#graceMs }, 'stopping')
    this.#begin()
    this.#resolveStopped()
  }

  async #crash(error: unknown): Promise<void> {
    this.#log.fatal({ err: error }, 'uncaught error, draining')
    if (this.#crashed) return
    this.#crashed = true
    if (!this.stop.aborted) this.#begin()
    try {
      await this.#handleCrash?.(error)
    } catch (failure) {
      this.#log.error({ err: failure }, 'handling of the uncaught error failed')
    }
    this.#resolveStopped()
  }

  #begin(): void {
    setTimeout(() => {
      this.#log.fatal({ graceMs: this.#graceMs }, 'stop took too long, ending by force')
      process.exit(EXIT.software)
    }, this.#graceMs + DEADLINE_AFTER_GRACE_MS).unref()
    this.#stop.abort()
  }
}
