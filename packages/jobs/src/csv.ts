type Cell = string | number | undefined

/** One line of a CSV file (RFC 4180), its end included. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

/**
 * A text that begins like a formula gets an apostrophe before it: spreadsheets would execute it, and
 * an error message may hold what somebody else has written.
 */
function cell(value: Cell): string {
  const text = value === undefined ? '' : String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
