import type { Color, Paint } from './colors.ts'
import { oneLine } from './one-line.ts'

/** A column of a table of `T`. */
export interface Column<T> {
  title: string
  of: (item: T) => string | number | null | undefined
  align?: 'right'
  color?: (item: T) => Color | undefined
  /** It is never cut, as somebody will copy it. */
  isWhole?: boolean
}

/** How a table looks where it is shown. */
export interface TableLook {
  paint: Paint
  /** So wide at most; undefined: as wide as it gets. */
  columns: number | undefined
}

const GAP = '  '
const NARROWEST = 6

/** Writes rows in columns. Later parts of one table keep the widths of the first, and grow where they must. */
export class Table<T> {
  readonly #columns: readonly Column<T>[]
  readonly #look: TableLook
  #widths: number[]
  #isBegun = false

  constructor(columns: readonly Column<T>[], look: TableLook) {
    this.#columns = columns
    this.#look = look
    this.#widths = columns.map(() => 0)
  }

  /** The lines of these items, with the titles above the first ones. */
  text(items: readonly T[]): string {
    const rows = items.map((item) => this.#columns.map(({ of }) => oneLine(String(of(item) ?? ''))))
    this.#fit(rows)
    const lines = rows.map((row, at) => this.#line(row, (column) => column.color?.(items[at] as T)))
    if (!this.#isBegun) {
      const titles = this.#columns.map(({ title }) => title.toUpperCase())
      lines.unshift(this.#line(titles, () => 'dim'))
    }
    this.#isBegun = true
    return lines.map((line) => `${line}\n`).join('')
  }

  #fit(rows: readonly string[][]): void {
    this.#widths = this.#columns.map(({ title }, at) =>
      Math.max(this.#widths[at] ?? 0, title.length, ...rows.map((row) => lengthOf(row[at] ?? ''))),
    )
    const { columns } = this.#look
    if (columns !== undefined) this.#widths = narrowed(this.#widths, this.#columns, columns)
  }

  #line(cells: readonly string[], colorOf: (column: Column<T>) => Color | undefined): string {
    const shown = this.#columns.map((column, at) => {
      const width = this.#widths[at] ?? 0
      const cell = column.isWhole ? (cells[at] ?? '') : cut(cells[at] ?? '', width)
      const space = ' '.repeat(Math.max(0, width - lengthOf(cell)))
      const painted = this.#look.paint(colorOf(column), cell)
      const isLast = at === this.#columns.length - 1
      if (column.align === 'right') return space + painted
      return isLast ? painted : painted + space
    })
    return shown.join(GAP).trimEnd()
  }
}

/** Takes from the widest columns what is too much. */
function narrowed(
  widths: readonly number[],
  columns: readonly { isWhole?: boolean }[],
  room: number,
): number[] {
  const result = [...widths]
  for (;;) {
    const total = result.reduce((sum, width) => sum + width, 0) + GAP.length * (result.length - 1)
    if (total <= room) return result
    let widest = -1
    for (const [at, width] of result.entries())
      if (!columns[at]?.isWhole && width > NARROWEST && width > (result[widest] ?? 0)) widest = at
    if (widest === -1) return result
    result[widest] = (result[widest] ?? 0) - 1
  }
}

/** In characters as people count them. */
function lengthOf(text: string): number {
  return Array.from(text).length
}

function cut(text: string, width: number): string {
  return lengthOf(text) <= width
    ? text
    : `${Array.from(text)
        .slice(0, Math.max(0, width - 1))
        .join('')}…`
}
