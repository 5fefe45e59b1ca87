/** A row of the history, as Postgres has it. */
export interface HistoryRow {
  id: string
  schedule_id: string | null
  tick_at: Date | null
  /** Of a range of skipped ticks: its last tick, and how many there are. */
  tick_until: Date | null
  tick_count: number | null
  backfill_id: string | null
  /** The dead run that it was made of. */
  redrive_of?: string | null
  state: string
  reason: string | null
  term: number | null
  enqueued_at: Date
  started_at: Date | null
  finished_at: Date | null
}

/** The reign of a leader. */
export interface Term {
  term: number
  from_at: Date
  until_at: Date | null
}

/** Thousands of names say no more than ten. */
export function shortened(names: readonly string[]): string[] {
  return names.length > 10 ? [...names.slice(0, 10), `… ${names.length} in all`] : [...names]
}

export function tickName(scheduleId: string, atMs: number): string {
  return `${scheduleId}@${new Date(atMs).toISOString()}`
}

export function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const group = groups.get(keyOf(one))
    if (group) group.push(one)
    else groups.set(keyOf(one), [one])
  }
  return groups
}
