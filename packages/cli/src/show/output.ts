import type { Terminal } from '../terminal.ts'
import { type Paint, painter, wantsColor } from './colors.ts'
import { oneLine, safeLines } from './one-line.ts'
import { type Column, Table } from './table.ts'
import { Times } from './times.ts'

/** How somebody wants to see what a command tells. */
export interface Wishes {
  json: boolean
  utc: boolean
}

/** What a command tells: tables and sentences for people, or JSON for programs. */
export class Output {
  readonly isJson: boolean
  readonly times: Times
  readonly paint: Paint
  readonly #terminal: Terminal

  constructor(terminal: Terminal, { json, utc }: Wishes) {
    this.isJson = json
    this.times = new Times({ timezone: utc ? 'UTC' : terminal.timezone, clock: terminal.clock })
    this.paint = painter(wantsColor(terminal.env, terminal.outputColumns() !== undefined))
    this.#terminal = terminal
  }

  /** One document. */
  json(value: unknown): void {
    this.#terminal.writeOutput(`${JSON.stringify(value, null, 2)}\n`)
  }

  /** One line of many. */
  jsonLine(value: unknown): void {
    this.#terminal.writeOutput(`${JSON.stringify(value)}\n`)
  }

  /** A document for programs, or what `show` writes for people. */
  either(value: unknown, show: () => void): void {
    if (this.isJson) this.json(value)
    else show()
  }

  line(text: string): void {
    this.#terminal.writeOutput(`${oneLine(text)}\n`)
  }

  /** Lines that steer no terminal, indented. */
  block(text: string, indent = '  '): void {
    for (const line of safeLines(text)) this.raw(`${indent}${line}`.trimEnd())
  }

  /** A line that is known to be safe, such as one that was painted. */
  raw(text: string): void {
    this.#terminal.writeOutput(`${text}\n`)
  }

  heading(text: string): void {
    this.raw(`\n${this.paint('bold', oneLine(text))}`)
  }

  /** A remark beside what is told: to standard error, so that nobody takes it for data. */
  note(text: string): void {
    this.#terminal.writeError(`${oneLine(text)}\n`)
  }

  table<T>(columns: readonly Column<T>[]): Table<T> {
    return new Table(columns, { paint: this.paint, columns: this.#terminal.outputColumns() })
  }

  /** A whole table, or a sentence where there is nothing. */
  rows<T>(items: readonly T[], columns: readonly Column<T>[], empty: string): void {
    if (items.length === 0) this.note(empty)
    else this.#terminal.writeOutput(this.table(columns).text(items))
  }

  more(text: string): void {
    this.#terminal.writeOutput(text)
  }

  /** Names and values below each other. What is undefined, null or empty is left out. */
  fields(pairs: Readonly<Record<string, string | number | boolean | null | undefined>>): void {
    const shown = Object.entries(pairs).filter(([, value]) => value != null && value !== '')
    const width = Math.max(0, ...shown.map(([name]) => name.length))
    for (const [name, value] of shown)
      this.raw(`${this.paint('dim', name.padEnd(width))}  ${oneLine(String(value))}`)
  }
}
