import { checkAttempts, type LedgerAttempt } from './check-attempts.ts'
import { shortened } from './history.ts'

/**
 * The ledger checker, for runs: from what was accepted, what the history says and what lies in Redis it
 * tells what is wrong. What was accepted has succeeded, is dead, was cancelled, or still waits: one row
 * each. It knows nothing of the product's code.
 */
export interface RunReport {
  accepted: number
  /** Accepted, in no row, and not waiting in Redis either. */
  missing: string[]
  /** More rows than one. */
  doubled: string[]
  /** A row, message or dead letter of a run that nobody asked for. */
  unexpected: string[]
  /** Its row says that it has not ended, and no message of it is left to end it. */
  stranded: string[]
  /** Ended by its row, and its message waits all the same: it would be executed again. */
  lingering: string[]
  /** Dead by its row, not settled, and not in a dead-letter queue. */
  letterless: string[]
  /** In a dead-letter queue, or there twice, without being dead and unsettled by its row. */
  strayLetters: string[]
  /** Attempts that contradict each other or their row, in words. */
  inconsistent: string[]
  /** How many rows are in each state. */
  states: Record<string, number>
  /** Accepted runs that wait in Redis; 0 where it was not looked. */
  waiting: number
}

/** A row of the history; the checks of attempts and dead letters need all of it. */
export interface LedgerRun {
  id: string
  state: string
  reason?: string | null
  /** Number of its latest attempt. */
  attempt?: number
}

/** What is looked at besides accepted runs and rows. Absent: not looked at. */
export interface LedgerMore {
  attempts?: readonly LedgerAttempt[]
  /** Ids of runs that have a message in their queue. */
  waiting?: readonly string[]
  /** Ids in the dead-letter queues. */
  letters?: readonly string[]
  /** Ids of dead runs that were redriven or discarded since. */
  settled?: readonly string[]
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'dead', 'cancelled'])

export function checkRuns(
  accepted: readonly string[],
  rows: readonly LedgerRun[],
  more: LedgerMore = {},
): RunReport {
  const expected = new Set(accepted)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const waiting = more.waiting && new Set(more.waiting)
  const isEnded = ({ state }: LedgerRun): boolean => ENDED.has(state)
  const states: Record<string, number> = {}
  for (const { state } of rows) states[state] = (states[state] ?? 0) + 1
  const mentioned = new Set([...byId.keys(), ...(waiting ?? []), ...(more.letters ?? [])])
  const attempts = more.attempts ? checkAttempts([...byId.values()], more.attempts) : []
  return {
    accepted: expected.size,
    missing: shortened([...expected].filter((id) => !byId.has(id) && !waiting?.has(id))),
    doubled: shortened(twice(rows.map(({ id }) => id))),
    unexpected: shortened([...mentioned].filter((id) => !expected.has(id))),
    stranded: shortened(
      ids([...byId.values()].filter((row) => waiting && !isEnded(row) && !waiting.has(row.id))),
    ),
    lingering: shortened(
      ids([...byId.values()].filter((row) => isEnded(row) && waiting?.has(row.id))),
    ),
    ...checkLetters([...byId.values()], more),
    inconsistent: shortened(attempts),
    states,
    waiting: [...expected].filter((id) => waiting?.has(id)).length,
  }
}

/** What `checkRuns` finds when nothing is wrong. */
export const NOTHING_WRONG = {
  missing: [],
  doubled: [],
  unexpected: [],
  stranded: [],
  lingering: [],
  letterless: [],
  strayLetters: [],
  inconsistent: [],
}

function checkLetters(
  rows: readonly LedgerRun[],
  { letters, settled = [] }: LedgerMore,
): Pick<RunReport, 'letterless' | 'strayLetters'> {
  if (!letters) return { letterless: [], strayLetters: [] }
  const isSettled = new Set(settled)
  const dead = new Set(ids(rows.filter(({ id, state }) => state === 'dead' && !isSettled.has(id))))
  const lying = new Set(letters)
  return {
    letterless: shortened([...dead].filter((id) => !lying.has(id))),
    strayLetters: shortened([...[...lying].filter((id) => !dead.has(id)), ...twice(letters)]),
  }
}

function ids(rows: readonly LedgerRun[]): string[] {
  return rows.map(({ id }) => id)
}

function twice(all: readonly string[]): string[] {
  const seen = new Set<string>()
  return [...new Set(all.filter((id) => seen.has(id) || !seen.add(id)))]
}
