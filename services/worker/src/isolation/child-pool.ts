import { type Logger, sleep } from '@jadwal/runtime'
import type { Isolation } from '@jadwal/sdk'
import type { Child, ChildKind } from './child.ts'
import { sayEnd } from './child-error.ts'
import type { FromChild } from './messages.ts'
import { receivedThrown } from './sent-error.ts'
import { startChild } from './start-child.ts'

const START_WITHIN_MS = 30_000
const IDLE_MS = 30_000
/** A child is replaced after this many attempts: what its jobs leak goes with it. */
const MOST_ATTEMPTS = 1_000
/** Only what is stuck in a system call takes longer to end. */
const END_WITHIN_MS = 2_000

export interface ChildPoolOptions {
  file: URL
  env: Readonly<NodeJS.ProcessEnv>
  log: Logger
  startWithinMs?: number
  idleMs?: number
  mostAttempts?: number
}

/**
 * The children of a worker, each making one attempt at a time: as many as there are isolated attempts
 * in hand. They are started when they are needed and kept for a while, as a start takes tens to
 * hundreds of milliseconds.
 */
export class ChildPool {
  readonly #options: Required<ChildPoolOptions>
  readonly #children = new Set<Child>()
  /** With the timer that ends it. The one that came last is taken first, so that too many of them get to idle. */
  readonly #idle = new Map<Child, NodeJS.Timeout>()
  #closed = false
  #onLastEnd: () => void = ignore

  constructor(options: ChildPoolOptions) {
    this.#options = {
      startWithinMs: START_WITHIN_MS,
      idleMs: IDLE_MS,
      mostAttempts: MOST_ATTEMPTS,
      ...options,
    }
  }

  /** How many live, idle ones and those that are being started included. */
  count(isolate: Isolation): number {
    let count = 0
    for (const { kind } of this.#children) if (kind.isolate === isolate) count += 1
    return count
  }

  /** One that is ready, if any is idle. */
  takeIdle(kind: ChildKind): Child | undefined {
    let found: Child | undefined
    for (const child of this.#idle.keys()) if (isLike(child.kind, kind)) found = child
    if (found) this.#leaveIdle(found)
    return found
  }

  /**
   * A new one, ready. Rejects with a `ChildError` when it can't be started, and with the signal's reason
   * when that aborts meanwhile.
   */
  async start(kind: ChildKind, signal: AbortSignal): Promise<Child> {
    signal.throwIfAborted()
    const { file, env, startWithinMs: withinMs } = this.#options
    const starting = startChild({
      kind,
      file,
      env,
      withinMs,
      onStart: (child) => this.#started(child),
      onEnd: (child) => this.#ended(child),
    })
    let abort = ignore
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason as Error)
      signal.addEventListener('abort', abort, { once: true })
    })
    try {
      return await Promise.race([starting, aborted])
    } catch (error) {
      void starting.then((child) => this.giveBack(child), ignore)
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  giveBack(child: Child): void {
    if (child.end) return
    child.listener = { said: (message) => this.#heardIdle(child, message), ended: () => undefined }
    if (this.#closed || child.made >= this.#options.mostAttempts) child.dismiss()
    else this.#idle.set(child, setTimeout(() => this.#dismiss(child), this.#options.idleMs).unref())
  }

  /** Ends them all at once, whatever they do. Resolves when they have ended, at the latest after 2 s. */
  async close(): Promise<void> {
    this.#closed = true
    for (const child of this.#children) {
      this.#leaveIdle(child)
      child.kill()
    }
    if (this.#children.size === 0) return
    const ended = new AbortController()
    this.#onLastEnd = () => ended.abort()
    await sleep(END_WITHIN_MS, ended.signal)
  }

  #started(child: Child): void {
    this.#children.add(child)
    if (this.#closed) child.kill()
  }

  #dismiss(child: Child): void {
    this.#leaveIdle(child)
    child.dismiss()
  }

  #leaveIdle(child: Child): void {
    clearTimeout(this.#idle.get(child))
    this.#idle.delete(child)
  }

  #ended(child: Child): void {
    this.#children.delete(child)
    if (this.#children.size === 0) this.#onLastEnd()
    if (!this.#idle.has(child)) return
    this.#leaveIdle(child)
    if (child.end)
      this.#options.log.warn({ end: sayEnd(child.kind, child.end) }, 'idle child ended')
  }

  #heardIdle(child: Child, message: FromChild): void {
    if (message.type !== 'crashed') return
    this.#leaveIdle(child)
    const err = receivedThrown(message.error)
    this.#options.log.error({ err }, 'uncaught error in an idle child')
  }
}

function isLike(a: ChildKind, b: ChildKind): boolean {
  return a.isolate === b.isolate && a.memoryMb === b.memoryMb
}

function ignore(): void {}
