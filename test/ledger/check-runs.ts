/**
 * The ledger checker, for runs: from what was accepted and what the history says it tells what is
 * wrong. It knows nothing of the product's code.
 */
export interface RunReport {
  accepted: number
  /** Accepted, and no row. */
  missing: string[]
  /** More rows than one. */
  doubled: string[]
  /** A row of a run that nobody asked for. */
  unexpected: string[]
  /** How many rows are in each state. */
  states: Record<string, number>
}

export function checkRuns(
  accepted: readonly string[],
  rows: readonly { id: string; state: string }[],
): RunReport {
  const expected = new Set(accepted)
  const counts = new Map<string, number>()
  const states: Record<string, number> = {}
  for (const { id, state } of rows) {
    counts.set(id, (counts.get(id) ?? 0) + 1)
    states[state] = (states[state] ?? 0) + 1
  }
  return {
    accepted: expected.size,
    missing: first([...expected].filter((id) => !counts.has(id))),
    doubled: first([...counts].filter(([, count]) => count > 1).map(([id]) => id)),
    unexpected: first([...counts.keys()].filter((id) => !expected.has(id))),
    states,
  }
}

function first(ids: string[]): string[] {
  return ids.length > 10 ? [...ids.slice(0, 10), `… ${ids.length} in all`] : ids
}
