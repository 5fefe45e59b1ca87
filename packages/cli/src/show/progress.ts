import { SECOND } from '@jadwal/domain'
import type { Terminal } from '../terminal.ts'
import { oneLine } from './one-line.ts'

const BAR = 24
const LINE_EACH_MS = 10 * SECOND
const DRAW_EACH_MS = 100

/** How far long work is. */
export interface Progress {
  done: number
  /** Undefined or null where nobody knows. */
  total?: number | null | undefined
  /** What else there is to say. */
  more?: string
}

/**
 * Shows on standard error how far long work is: a bar on a terminal, elsewhere a line each 10 s. Nothing
 * of it goes to standard output.
 */
export class ProgressBar {
  readonly #terminal: Terminal
  readonly #noun: string
  #drawnAtMs = -Infinity
  #isDrawn = false

  constructor(terminal: Terminal, noun: string) {
    this.#terminal = terminal
    this.#noun = noun
  }

  show(progress: Progress): void {
    const columns = this.#terminal.errorColumns()
    const eachMs = columns === undefined ? LINE_EACH_MS : DRAW_EACH_MS
    const nowMs = this.#terminal.clock.monotonicMs()
    // Where there is no terminal, work that ends soon needs no line.
    if (this.#drawnAtMs === -Infinity && columns === undefined) this.#drawnAtMs = nowMs
    if (nowMs - this.#drawnAtMs < eachMs) return
    this.#drawnAtMs = nowMs
    if (columns === undefined) return this.#terminal.writeError(`${this.#words(progress)}\n`)
    const text = `${bar(progress)}${this.#words(progress)}`.slice(0, Math.max(10, columns - 1))
    this.#terminal.writeError(`\r${text}\u001B[K`)
    this.#isDrawn = true
  }

  /** Takes the bar away. */
  clear(): void {
    if (this.#isDrawn) this.#terminal.writeError('\r\u001B[K')
    this.#isDrawn = false
  }

  #words({ done, total, more }: Progress): string {
    const part = total == null ? '' : ` of ${total}`
    const share = total ? ` (${Math.floor((Math.min(done, total) / total) * 100)} %)` : ''
    return oneLine(`${done}${part} ${this.#noun}${share}${more === undefined ? '' : `, ${more}`}`)
  }
}

function bar({ done, total }: Progress): string {
  if (!total) return ''
  const filled = Math.round(Math.min(1, done / total) * BAR)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} `
}
