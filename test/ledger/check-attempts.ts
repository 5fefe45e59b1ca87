import { grouped } from './history.ts'

/** A row of an attempt, as Postgres has it. */
export interface LedgerAttempt {
  run_id: string
  number: number
  state: string
}

/** What of a run's row its attempts are held against. */
interface Row {
  id: string
  state: string
  reason?: string | null
  attempt?: number
}

/**
 * What is wrong between runs and their attempts, in words: numbers count from 1, each once, up to the
 * run's own; at most one attempt has succeeded, and then so has the run; the last one says how it ended.
 */
export function checkAttempts(rows: readonly Row[], attempts: readonly LedgerAttempt[]): string[] {
  const byRun = grouped(attempts, ({ run_id }) => run_id)
  const findings = rows.flatMap((row) =>
    wrongWith(row, byRun.get(row.id) ?? []).map((what) => `${row.id}: ${what}`),
  )
  const known = new Set(rows.map(({ id }) => id))
  const strangers = [...byRun.keys()].filter((id) => !known.has(id))
  return [...findings, ...strangers.map((id) => `${id}: attempts without a run`)]
}

function wrongWith(row: Row, attempts: readonly LedgerAttempt[]): string[] {
  const numbers = attempts.map(({ number }) => number)
  const last = attempts.find(({ number }) => number === row.attempt)
  const count = (state: string): number => attempts.filter((each) => each.state === state).length
  const found: string[] = []
  const wrong = (isSo: boolean, what: string): void => {
    if (isSo) found.push(what)
  }
  wrong(new Set(numbers).size < numbers.length, `attempts ${numbers.join(', ')}: one of them twice`)
  wrong(
    numbers.some((number) => number < 1),
    'an attempt below 1',
  )
  wrong(
    numbers.some((number) => number > (row.attempt ?? 0)),
    `attempt ${Math.max(...numbers)} of a run at its attempt ${row.attempt}`,
  )
  wrong(count('succeeded') > 1, `${count('succeeded')} attempts succeeded`)
  if (row.state === 'succeeded') {
    // Of a first attempt that succeeded the row says all there is to say.
    const isPlain = row.attempt === 1 && attempts.length === 0
    wrong(
      !isPlain && last?.state !== 'succeeded',
      `succeeded by an attempt that is ${last?.state ?? 'absent'}`,
    )
  } else {
    wrong(count('succeeded') > 0, `${row.state}, although an attempt succeeded`)
  }
  const isStarted = (row.attempt ?? 0) > 0
  if (row.state === 'dead' && row.reason === 'lost' && isStarted)
    wrong(last?.state !== 'lost', `dead as lost, its last attempt ${last?.state ?? 'absent'}`)
  if (row.state === 'dead' && row.reason === 'failed')
    wrong(last?.state !== 'failed', `dead as failed, its last attempt ${last?.state ?? 'absent'}`)
  wrong(
    ['succeeded', 'dead', 'cancelled'].includes(row.state) && count('running') > 0,
    `${row.state}, although an attempt is running`,
  )
  return found
}
