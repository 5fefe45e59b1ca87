import { isOfEvents, ruleMs, type AlertRuleSpec } from './alert-rule.ts'
import type { AlertGroup, AlertState } from './alert-state.ts'

export type AlertMessageKind = NonNullable<AlertState['outstanding']>['kind']

export interface AlertStep {
  nowMs: number
  rule: { name: string; spec: AlertRuleSpec }
  /** What the rule finds of the group now; undefined: nothing. */
  seen: AlertGroup | undefined
  /** All that there is was looked at: what is not seen is not there. */
  isComplete: boolean
}

/** What becomes of an alert, or of none, at one look. `id` names one that begins. Undefined: there is none. */
export function stepAlert(
  before: AlertState | undefined,
  { nowMs, rule, seen, isComplete }: AlertStep,
  newId: () => string,
): AlertState | undefined {
  const holdMs = ruleMs(rule.spec.for)
  if (!before) {
    if (!seen) return undefined
    const { name, spec } = rule
    const base = { id: newId(), rule: name, kind: spec.kind, group: seen, sent: 0 }
    return opened({ ...base, phase: 'pending', sinceMs: nowMs, changedMs: nowMs }, nowMs, holdMs)
  }
  if (seen) return opened(present(before, seen, nowMs), nowMs, holdMs)
  if (!isComplete || before.phase === 'closed') return before
  if (before.phase === 'pending') return undefined
  const absentMs = before.absentMs ?? nowMs
  if (nowMs - absentMs < holdMs) return { ...before, absentMs, changedMs: nowMs }
  return { ...before, phase: 'closed', absentMs, closedMs: absentMs, changedMs: nowMs }
}

/** One whose end was not told yet goes on. */
function present(before: AlertState, seen: AlertGroup, nowMs: number): AlertState {
  const { absentMs: _, closedMs: __, ...rest } = before
  const phase = before.phase === 'closed' ? 'open' : before.phase
  return { ...rest, phase, group: seen, changedMs: nowMs }
}

function opened(state: AlertState, nowMs: number, holdMs: number): AlertState {
  if (state.phase !== 'pending' || nowMs - state.sinceMs < holdMs) return state
  return { ...state, phase: 'open', openedMs: nowMs }
}

export interface AlertTelling {
  nowMs: number
  rule: { spec: AlertRuleSpec }
  /** How long the first message waits for more of the same. */
  gatherMs: number
}

/** Which message of an alert is due, if nothing silences it. */
export function dueMessage(
  state: AlertState,
  { nowMs, rule, gatherMs }: AlertTelling,
): AlertMessageKind | undefined {
  const { phase, sent, endTold, openedMs = 0, lastSentMs = 0 } = state
  switch (phase) {
    case 'pending':
      return undefined
    case 'closed':
      return sent > 0 && !endTold ? 'resolved' : undefined
    case 'open':
      if (sent === 0) return nowMs - openedMs >= gatherMs ? 'opened' : undefined
      if (nowMs - lastSentMs < ruleMs(rule.spec.repeatEvery) || state.absentMs !== undefined)
        return undefined
      return isOfEvents(rule.spec.kind) && !hasNews(state) ? undefined : 'repeated'
  }
}

/** More has happened since the last message. */
function hasNews({ group, sentLastMs = 0 }: AlertState): boolean {
  return (group.lastMs ?? 0) > sentLastMs
}

/** The alert after a message, all of whose runs are enqueued. */
export function messageSent(state: AlertState): AlertState {
  const { outstanding, ...rest } = state
  if (!outstanding) return state
  return {
    ...rest,
    sent: state.sent + 1,
    lastSentMs: outstanding.atMs,
    ...(outstanding.kind === 'resolved' ? { endTold: true } : {}),
    ...(state.group.lastMs === undefined ? {} : { sentLastMs: state.group.lastMs }),
  }
}

/** It has ended, and nothing is left to be told of it. */
export function isOver({ phase, sent, endTold }: AlertState): boolean {
  return phase === 'closed' && (sent === 0 || endTold === true)
}
