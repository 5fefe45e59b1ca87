import { expect, test } from 'vitest'
import { checkRuns, type LedgerMore, type LedgerRun, NOTHING_WRONG } from './check-runs.ts'

const row = (id: string, state: string, more: Partial<LedgerRun> = {}): LedgerRun => ({
  id,
  state,
  reason: null,
  attempt: 1,
  ...more,
})
const attempt = (run_id: string, number: number, state: string) => ({ run_id, number, state })

/** One run of each kind, with nothing wrong. */
const ACCEPTED = ['done', 'retried', 'failed', 'lost', 'settled', 'cancelled', 'waits', 'retries']
const ROWS = [
  row('done', 'succeeded'),
  row('retried', 'succeeded', { attempt: 2 }),
  row('failed', 'dead', { reason: 'failed', attempt: 2 }),
  row('lost', 'dead', { reason: 'lost', attempt: 3 }),
  row('settled', 'dead', { reason: 'failed' }),
  row('cancelled', 'cancelled', { reason: 'cancelled', attempt: 0 }),
  row('retries', 'retrying'),
]
const MORE = {
  attempts: [
    attempt('done', 1, 'succeeded'),
    attempt('retried', 1, 'failed'),
    attempt('retried', 2, 'succeeded'),
    attempt('failed', 1, 'failed'),
    attempt('failed', 2, 'failed'),
    attempt('lost', 1, 'lost'),
    attempt('lost', 3, 'lost'),
    attempt('settled', 1, 'failed'),
    attempt('retries', 1, 'failed'),
  ],
  waiting: ['waits', 'retries'],
  letters: ['failed', 'lost'],
  settled: ['settled'],
}

function check(change: { rows?: readonly LedgerRun[]; more?: LedgerMore; accepted?: string[] }) {
  const { rows = ROWS, more = {}, accepted = ACCEPTED } = change
  return checkRuns(accepted, rows, { ...MORE, ...more })
}

/** The rows, with one of them in another form. */
function changed(id: string, more: Partial<LedgerRun>): LedgerRun[] {
  return ROWS.map((each) => (each.id === id ? { ...each, ...more } : each))
}

function stray(...letters: string[]): string[] {
  return check({ more: { letters: [...MORE.letters, ...letters] } }).strayLetters
}

function without(id: string, number: number): LedgerMore {
  return { attempts: MORE.attempts.filter((each) => each.run_id !== id || each.number !== number) }
}

test('runs that have succeeded, are dead, were cancelled or wait have nothing to report', () => {
  expect(check({})).toEqual({
    ...NOTHING_WRONG,
    accepted: 8,
    states: { succeeded: 2, dead: 3, cancelled: 1, retrying: 1 },
    waiting: 2,
  })
})

test('accepted runs add up to those that succeeded, are dead, were cancelled or wait', () => {
  const { accepted, states, waiting } = check({})
  const { succeeded = 0, dead = 0, cancelled = 0 } = states
  expect(succeeded + dead + cancelled + waiting).toBe(accepted)
})

test('it finds a run that is in no row, unless it waits', () => {
  expect(check({ rows: ROWS.slice(1), more: { attempts: [] } }).missing).toEqual(['done'])
  expect(check({ more: { waiting: ['retries'] } }).missing).toEqual(['waits'])
})

test('it finds a run in two rows', () => {
  expect(check({ rows: [...ROWS, row('done', 'succeeded')] }).doubled).toEqual(['done'])
})

test('it finds rows, messages and dead letters that nobody asked for', () => {
  const rows = [...ROWS, row('stranger', 'queued')]
  const more = { waiting: ['x', ...MORE.waiting], letters: ['y', ...MORE.letters] }
  expect(check({ rows, more }).unexpected).toEqual(['stranger', 'x', 'y'])
})

test('it finds a run that nothing is left to end', () => {
  expect(check({ more: { waiting: ['waits'] } }).stranded).toEqual(['retries'])
})

test('it finds a run that has ended and still waits', () => {
  expect(check({ more: { waiting: [...MORE.waiting, 'done'] } }).lingering).toEqual(['done'])
})

test('it finds a dead run without a letter, settled ones aside', () => {
  expect(check({ more: { letters: ['lost'] } }).letterless).toEqual(['failed'])
  expect(check({ more: { settled: [] } }).letterless).toEqual(['settled'])
})

test('it finds letters of runs that are not dead or settled, and letters that lie there twice', () => {
  expect(stray('done')).toEqual(['done'])
  expect(stray('settled')).toEqual(['settled'])
  expect(stray('lost')).toEqual(['lost'])
})

test.each([
  ['a number twice', attempt('failed', 1, 'failed'), 'attempts 1, 2, 1: one of them twice'],
  ['a number below 1', attempt('failed', 0, 'failed'), 'an attempt below 1'],
  ['a number above its own', attempt('failed', 3, 'failed'), 'attempt 3 of a run at its attempt 2'],
  ['one that is running', attempt('lost', 2, 'running'), 'dead, although an attempt is running'],
  ['one that succeeded', attempt('lost', 2, 'succeeded'), 'dead, although an attempt succeeded'],
])('it finds a run that has ended with %s', (_, added, what) => {
  const more = { attempts: [...MORE.attempts, added] }
  expect(check({ more }).inconsistent).toEqual([`${added.run_id}: ${what}`])
})

test('it finds two attempts that succeeded', () => {
  const attempts = MORE.attempts.map((each) =>
    each.run_id === 'retried' ? { ...each, state: 'succeeded' } : each,
  )
  expect(check({ more: { attempts } }).inconsistent).toEqual(['retried: 2 attempts succeeded'])
})

test('it finds an end that its last attempt does not bear out', () => {
  expect(check({ more: without('retried', 2) }).inconsistent).toEqual([
    'retried: succeeded by an attempt that is absent',
  ])
  expect(check({ more: without('lost', 3) }).inconsistent).toEqual([
    'lost: dead as lost, its last attempt absent',
  ])
  expect(check({ rows: changed('failed', { attempt: 3 }) }).inconsistent).toEqual([
    'failed: dead as failed, its last attempt absent',
  ])
})

test('it finds attempts of no run', () => {
  const more = { attempts: [...MORE.attempts, attempt('nobody', 1, 'failed')] }
  expect(check({ more }).inconsistent).toEqual(['nobody: attempts without a run'])
})

test('a run that succeeded at once needs no attempt', () => {
  expect(check({ more: without('done', 1) }).inconsistent).toEqual([])
})

test('a run that was lost before its first attempt needs none', () => {
  const rows = changed('lost', { attempt: 0 })
  const attempts = MORE.attempts.filter(({ run_id }) => run_id !== 'lost')
  expect(check({ rows, more: { attempts } }).inconsistent).toEqual([])
})

test('what was not looked at is not reported', () => {
  const rows = [row('done', 'succeeded'), row('failed', 'dead'), row('retries', 'retrying')]
  const report = checkRuns(['done', 'failed', 'retries'], rows)
  expect(report).toMatchObject({ ...NOTHING_WRONG, waiting: 0 })
})
