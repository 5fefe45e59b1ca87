import { expect, test } from 'vitest'
import { AlertRuleSpec } from './alert-rule.ts'
import type { AlertGroup, AlertState } from './alert-state.ts'
import { dueMessage, isOver, messageSent, stepAlert } from './step-alert.ts'

const GATHER_MS = 10_000

const groupOf = (about: Partial<AlertGroup> = {}): AlertGroup => ({
  key: 'emails',
  subject: { queue: 'emails' },
  summary: 'something',
  count: 1,
  examples: [],
  ...about,
})

/** One alert over looks at given instants (s); `seen` undefined is nothing. */
function setup(written: object = {}) {
  const spec = AlertRuleSpec.parse({ kind: 'oldest-waiting', repeatEvery: '60s', ...written })
  const rule = { name: 'r', spec }
  let state: AlertState | undefined
  let ids = 0
  const look = (atS: number, seen?: AlertGroup, isComplete = true) => {
    const nowMs = atS * 1_000
    state = stepAlert(state, { nowMs, rule, seen, isComplete }, () => `id-${(ids += 1)}`)
    const due = state && dueMessage(state, { nowMs, rule, gatherMs: GATHER_MS })
    if (state && due) state = messageSent({ ...state, outstanding: { kind: due, atMs: nowMs } })
    return due ?? state?.phase ?? 'none'
  }
  return { look, state: () => state }
}

test('an alert is told of when it was gathered, again after the pause, and when it is over', () => {
  const { look, state } = setup()
  expect([0, 5, 10, 20, 69, 70].map((at) => look(at, groupOf()))).toEqual([
    'open',
    'open',
    'opened',
    'open',
    'open',
    'repeated',
  ])
  expect(look(80)).toBe('resolved')
  expect(isOver(state() as AlertState)).toBe(true)
  expect(state()).toMatchObject({ sent: 3, sinceMs: 0, closedMs: 80_000 })
})

test('what does not hold long enough is no alert, and a short gap is no end', () => {
  const { look, state } = setup({ for: '30s' })
  expect([look(0, groupOf()), look(20, groupOf()), look(25)]).toEqual([
    'pending',
    'pending',
    'none',
  ])
  expect([look(30, groupOf()), look(59, groupOf())]).toEqual(['pending', 'pending'])
  expect([look(60, groupOf()), look(70, groupOf())]).toEqual(['open', 'opened'])
  expect([look(80), look(100), look(109, groupOf())]).toEqual(['open', 'open', 'open'])
  expect([look(110), look(139), look(140)]).toEqual(['open', 'open', 'resolved'])
  expect(state()?.closedMs).toBe(110_000)
})

test('an alert that ends before it was told of is never told of', () => {
  const { look, state } = setup()
  expect([look(0, groupOf()), look(5)]).toEqual(['open', 'closed'])
  expect(isOver(state() as AlertState)).toBe(true)
})

test('what could not be looked at has not ended', () => {
  const { look } = setup()
  expect([look(0, groupOf()), look(10, groupOf()), look(20, undefined, false)]).toEqual([
    'open',
    'opened',
    'open',
  ])
})

test('an alert of events is repeated only when there is something new', () => {
  const { look } = setup({ kind: 'dead-letter' })
  const first = groupOf({ lastMs: 1_000 })
  expect([look(0, first), look(10, first), look(100, first)]).toEqual(['open', 'opened', 'open'])
  expect(look(110, groupOf({ count: 2, lastMs: 105_000 }))).toBe('repeated')
})

test('what comes back before its end was told goes on', () => {
  const { look, state } = setup()
  const spec = AlertRuleSpec.parse({ kind: 'oldest-waiting' })
  look(0, groupOf())
  look(10, groupOf())
  const rule = { name: 'r', spec }
  const step = { rule, seen: undefined, isComplete: true, nowMs: 20_000 }
  const closed = stepAlert(state(), step, () => 'never')
  expect(closed).toMatchObject({ phase: 'closed', id: 'id-1' })
  const back = stepAlert(closed, { ...step, seen: groupOf(), nowMs: 30_000 }, () => 'never')
  expect(back).toMatchObject({ phase: 'open', id: 'id-1', sent: 1 })
  expect(back).not.toHaveProperty('closedMs')
})
