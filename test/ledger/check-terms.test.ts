import { expect, test } from 'vitest'
import { checkTerms } from './check-terms.ts'
import type { HistoryRow, Term } from './history.ts'

const term = (number: number, fromMs: number, untilMs: number | null): Term => ({
  term: number,
  from_at: new Date(fromMs),
  until_at: untilMs === null ? null : new Date(untilMs),
})
const terms = [term(1, 0, 1_000), term(2, 1_000, null)]

function row(
  number: number | null,
  decidedAtMs: number,
  more: Partial<HistoryRow> = {},
): HistoryRow {
  return {
    id: 'run',
    schedule_id: 'a',
    tick_at: new Date(0),
    tick_until: null,
    tick_count: null,
    backfill_id: null,
    state: 'queued',
    reason: null,
    term: number,
    enqueued_at: new Date(decidedAtMs),
    started_at: null,
    finished_at: null,
    ...more,
  }
}

test('ticks that were decided in the time of their terms have nothing to report', () => {
  expect(checkTerms([row(1, 0), row(1, 1_000), row(2, 1_000), row(2, 9_000)], terms)).toEqual([])
})

test('it finds ticks of a term before its time, after it, and of none', () => {
  expect(checkTerms([row(2, 999)], terms)).toEqual(['run run: before term 2 began'])
  expect(checkTerms([row(1, 1_001)], terms)).toEqual(['run run: 1 ms after term 1'])
  expect(checkTerms([row(1, 1_001)], terms, { trustMs: 1 })).toEqual([])
  expect(checkTerms([row(1, 1_001), row(2, 999)], terms, { clockMs: 1 })).toEqual([])
  expect(checkTerms([row(2, 999)], terms, { trustMs: 1 })).toHaveLength(1)
  expect(checkTerms([row(3, 1_000)], terms)).toEqual(['run run: there was no term 3'])
  expect(checkTerms([row(null, 1_000)], terms)).toEqual(['run run: there was no term null'])
})

test('runs that are no ticks have no term', () => {
  const others = [row(null, 0, { tick_at: null }), row(null, 0, { backfill_id: 'some' })]
  expect(checkTerms(others, terms)).toEqual([])
})

test('it finds terms of one instant, and terms that end before they begin', () => {
  const found = 'term 1 had not ended when 2 began'
  expect(checkTerms([], [term(1, 0, 1_001), term(2, 1_000, null)])).toEqual([found])
  expect(checkTerms([], [term(2, 1_000, null), term(1, 0, null)])).toEqual([found])
  expect(checkTerms([], [term(1, 0, 1_001), term(2, 1_000, null)], { clockMs: 1 })).toEqual([])
  expect(checkTerms([], [term(1, 10, 9)])).toEqual(['term 1 ended before it began'])
})
