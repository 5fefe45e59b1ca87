import { type ChildProcess, spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { EXIT, sleep } from '@jadwal/runtime'
import { onEachLine } from './line-splitter.ts'
import { identifyProcess } from './process-identity.ts'
import type { ProcessList } from './process-list.ts'
import { RestartBackoff } from './restart-backoff.ts'
import type { Terminal } from './terminal.ts'

/** A program of ours that is to run as long as the supervisor does. */
export interface ServiceSpec {
  /** `worker.2`: what its lines begin with. */
  name: string
  file: string
  env: NodeJS.ProcessEnv
}

/** Why a service is not started again. */
export interface GaveUp {
  name: string
  code: number
  /** The end of what it said on standard error. */
  lastWords: string
}

export interface KeeperDeps {
  terminal: Terminal
  processes: ProcessList
  onGaveUp(this: void, reason: GaveUp): void
}

/** How a service is stopped: gently, again at `hurry`, by force at `kill`. */
export interface StopSignals {
  hurry: AbortSignal
  kill: AbortSignal
}

const LAST_WORDS = 20

/**
 * Runs a service as a process and starts it again when it dies, with backoff; at once when it ended
 * well, as it does at SIGUSR2 to make room for the code that is installed by then. One whose environment is
 * wrong, or that never came up because a server is unreachable, would fail again: it is given up.
 */
export class ServiceKeeper {
  readonly name: string
  readonly #spec: ServiceSpec
  readonly #deps: KeeperDeps
  readonly #stopping = new AbortController()
  #child: ChildProcess | undefined
  #lastWords: string[] = []
  #port: number | undefined
  #wasReady = false
  /** Whether the process that runs, or has just ended, was ready. */
  #isReady = false
  #running: Promise<void> = Promise.resolve()
  #resolveReady: () => void = () => undefined
  #onRenewed: (() => void) | undefined

  /** Resolves when it was ready for the first time. */
  readonly ready = new Promise<void>((resolve) => {
    this.#resolveReady = resolve
  })

  constructor(spec: ServiceSpec, deps: KeeperDeps) {
    this.name = spec.name
    this.#spec = spec
    this.#deps = deps
  }

  /** The port that it said it took. */
  get port(): number | undefined {
    return this.#port
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  start(): void {
    this.#running = this.#keepRunning()
  }

  /**
   * Has the process drain, and resolves when the next one is ready; at once when none is ready that could be
   * asked, or everything stops.
   */
  async renew(): Promise<void> {
    if (!this.#isReady || this.#stopping.signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#onRenewed = resolve
      this.#stopping.signal.addEventListener('abort', () => resolve(), { once: true })
      this.#signal('SIGUSR2')
    })
    this.#onRenewed = undefined
  }

  async stop({ hurry, kill }: StopSignals): Promise<void> {
    this.#stopping.abort()
    // Another signal than the first: two of a kind at once arrive as one.
    const again = (): void => this.#signal('SIGINT')
    const force = (): void => this.#signal('SIGKILL')
    this.#signal('SIGTERM')
    hurry.addEventListener('abort', again)
    kill.addEventListener('abort', force)
    if (hurry.aborted) again()
    if (kill.aborted) force()
    await this.#running
    hurry.removeEventListener('abort', again)
    kill.removeEventListener('abort', force)
  }

  async #keepRunning(): Promise<void> {
    const { terminal, onGaveUp } = this.#deps
    const backoff = new RestartBackoff()
    while (!this.#stopping.signal.aborted) {
      const startedAt = performance.now()
      const end = await this.#runOnce()
      if (this.#stopping.signal.aborted) return
      if (end === EXIT.config || (end === EXIT.unavailable && !this.#wasReady)) {
        onGaveUp({ name: this.name, code: end, lastWords: this.#lastWords.join('\n') })
        return
      }
      const endedWell = end === EXIT.ok && this.#isReady
      const delayMs = endedWell ? 0 : backoff.delayMs(performance.now() - startedAt)
      const when = delayMs === 0 ? 'at once' : `in ${delayMs / 1_000} s`
      terminal.line(this.name, `ended (${end}); starts again ${when}`)
      await sleep(delayMs, this.#stopping.signal)
    }
  }

  /** Resolves with the exit code, or the name of the signal that ended it. */
  async #runOnce(): Promise<number | string> {
    const { terminal, processes } = this.#deps
    this.#lastWords = []
    this.#isReady = false
    const child = spawn(process.execPath, ['--enable-source-maps', this.#spec.file], {
      cwd: dirname(dirname(this.#spec.file)),
      env: this.#spec.env,
      // A group of its own: the terminal's Ctrl-C reaches the supervisor alone, which stops in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#child = child
    child.on('message', (message) => this.#onMessage(message))
    child.on('error', (error) => terminal.line(this.name, error.message))
    onEachLine(child.stdout, (line) => terminal.line(this.name, line))
    onEachLine(child.stderr, (line) => {
      this.#lastWords = [...this.#lastWords, line].slice(-LAST_WORDS)
      terminal.line(this.name, line)
    })
    const ended = endOf(child)
    const identity = await identifyProcess(child.pid ?? 0)
    if (identity) processes.add({ ...identity, name: this.name })
    // A stop that came while the process was made found no child to signal.
    if (this.#stopping.signal.aborted) this.#signal('SIGTERM')
    const end = await ended
    processes.remove(this.name)
    return end
  }

  #onMessage(message: unknown): void {
    const { type, port } = message as { type?: unknown; port?: unknown }
    if (type !== 'ready') return
    this.#port = typeof port === 'number' ? port : undefined
    this.#wasReady = true
    this.#isReady = true
    this.#resolveReady()
    this.#onRenewed?.()
  }

  #signal(signal: NodeJS.Signals): void {
    const child = this.#child
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
    if (signal !== 'SIGKILL') {
      child.kill(signal)
      return
    }
    try {
      process.kill(-child.pid, signal)
    } catch {
      child.kill(signal)
    }
  }
}

/** Resolves with the exit code or signal, when what the process said has been read. */
async function endOf(child: ChildProcess): Promise<number | string> {
  const closed = new Promise((resolve) => {
    child.once('close', resolve)
  })
  const end = await new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
    child.once('error', () => resolve('not started'))
  })
  // A process of its own that inherited the pipe would keep it open.
  await Promise.race([closed, sleep(1_000)])
  return end
}
