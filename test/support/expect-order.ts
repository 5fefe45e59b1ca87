import { eventually, type ServiceProcess, type TestDatabase } from '@jadwal/testkit'
import { expect } from 'vitest'
import { checkHistory, type HistoryBounds, type HistoryReport } from '../ledger/check-history.ts'
import { checkSightings, type Sighting } from '../ledger/check-sightings.ts'
import { checkTerms } from '../ledger/check-terms.ts'
import { readExpected, readHistory } from './read-ledger.ts'

/** How differently two schedulers of a busy machine may read the clock of Redis. */
const CLOCK_SLACK_MS = 1_000

/** A busy machine may owe a lot when it has been killed again and again. */
const CAUGHT_UP_WITHIN_MS = 240_000

export interface LedgerBounds extends Partial<HistoryBounds> {
  /** How long a leader may go on deciding after another took its place. Default: not at all. */
  trustMs?: number
  /** How long to wait until the history is complete. */
  withinMs?: number
}

/**
 * Resolves when the history is complete, up to the last whole second unless told otherwise, and throws
 * when anything in it is wrong.
 */
export async function expectHistory(
  db: TestDatabase['db'],
  bounds: LedgerBounds = {},
): Promise<HistoryReport> {
  const { untilMs = lastSecond(), trustMs = 0, withinMs = 40_000 } = bounds
  return eventually(
    async () => {
      const [schedules, { rows, terms }] = [await readExpected(db), await readHistory(db)]
      const report = checkHistory(schedules, rows, { ...bounds, untilMs })
      const { expected, ...findings } = report
      expect(findings).toEqual({
        missing: [],
        doubled: [],
        unexpected: [],
        early: [],
        late: [],
        miscounted: [],
        wronglyPaused: [],
      })
      expect(checkTerms(rows, terms, { clockMs: CLOCK_SLACK_MS, trustMs })).toEqual([])
      expect(expected).toBeGreaterThan(0)
      return report
    },
    { timeoutMs: withinMs, everyMs: 1_000 },
  )
}

export interface ConsumedSystem {
  database: TestDatabase
  consumer: { sightings: readonly Sighting[] }
  startRecorder: () => ServiceProcess
}

/**
 * Everything was handed out once, and stands in the history: facts wait in Redis for a recorder, so it
 * is enough to start one now. `doubled` is what may have been handed out twice.
 */
export async function expectOrder(
  { database, consumer, startRecorder }: ConsumedSystem,
  { doubled = [], ...bounds }: LedgerBounds & { doubled?: unknown } = {},
): Promise<HistoryReport> {
  const untilMs = bounds.untilMs ?? lastSecond()
  const recorder = startRecorder()
  await eventually(
    async () => {
      const schedules = await readExpected(database.db)
      const report = checkSightings(schedules, consumer.sightings, untilMs)
      expect(report).toMatchObject({ missing: [], doubled, early: [], unexpected: [] })
    },
    { timeoutMs: CAUGHT_UP_WITHIN_MS, everyMs: 500 },
  )
  await recorder.ready
  return expectHistory(database.db, { ...bounds, untilMs })
}

function lastSecond(): number {
  return Math.floor(Date.now() / 1_000) * 1_000
}
