import { type AlertState, isOver } from '@jadwal/domain'

/** Over, with nothing to be told of it: its rule is gone or was switched off. */
export function ended(state: AlertState, nowMs: number): AlertState {
  return { ...state, phase: 'closed', closedMs: state.closedMs ?? nowMs, endTold: true }
}

/** Likewise, where it may be over already. */
export function silentEnd(state: AlertState, nowMs: number): AlertState {
  return isOver(state) ? state : { ...ended(state, nowMs), changedMs: nowMs }
}
