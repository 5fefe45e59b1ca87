import { type HistoryRow, shortened, type Term } from './history.ts'

export interface TermSlack {
  /** How differently two leaders may read the clock. */
  clockMs?: number
  /** For how long a leader that was replaced may not know it yet. */
  trustMs?: number
}

/**
 * What is wrong with the terms: two that were at once, and ticks that were decided in a term that was
 * over, or had not begun.
 */
export function checkTerms(
  rows: readonly HistoryRow[],
  terms: readonly Term[],
  { clockMs = 0, trustMs = 0 }: TermSlack = {},
): string[] {
  const found: string[] = []
  const sorted = terms.toSorted((a, b) => a.term - b.term)
  for (const [at, { term, from_at, until_at }] of sorted.entries()) {
    const next = sorted[at + 1]
    if (next && timeOf(until_at) > timeOf(next.from_at) + clockMs)
      found.push(`term ${term} had not ended when ${next.term} began`)
    if (timeOf(until_at) < timeOf(from_at)) found.push(`term ${term} ended before it began`)
  }
  const byNumber = new Map(terms.map((term) => [term.term, term]))
  for (const { id, term: number, tick_at, backfill_id, redrive_of, enqueued_at } of rows) {
    if (tick_at === null || backfill_id !== null || redrive_of != null) continue
    const term = byNumber.get(number ?? Number.NaN)
    const atMs = enqueued_at.getTime()
    if (!term) found.push(`run ${id}: there was no term ${number}`)
    else if (atMs < timeOf(term.from_at) - clockMs)
      found.push(`run ${id}: before term ${number} began`)
    else if (atMs > timeOf(term.until_at) + clockMs + trustMs)
      found.push(`run ${id}: ${atMs - timeOf(term.until_at)} ms after term ${number}`)
  }
  return shortened(found)
}

/** A term that has no end is for ever. */
function timeOf(instant: Date | null): number {
  return instant?.getTime() ?? Infinity
}
