import { randomBytes } from 'node:crypto'
import type { AlertConfig } from '@jadwal/db'
import { alertKey, type AlertState, isOver, newRunId, stepAlert } from '@jadwal/domain'
import { silentEnd } from './alert-end.ts'
import { limitGroups } from './limit-groups.ts'
import type { Observation } from './observation.ts'

/** There may be anything. */
const NOT_LOOKED_AT: Observation = { groups: [], isComplete: false }
const SWITCHED_OFF: Observation = { groups: [], isComplete: true }

/** The alerts after a look at some rules; those of other rules are as they were. */
export function stepRules(
  rules: AlertConfig['rules'],
  before: ReadonlyMap<string, AlertState>,
  { observed, nowMs }: { observed: ReadonlyMap<string, Observation>; nowMs: number },
): Map<string, AlertState> {
  const after = new Map(before)
  for (const rule of rules) {
    const { groups, isComplete } = rule.spec.enabled
      ? (observed.get(rule.name) ?? NOT_LOOKED_AT)
      : SWITCHED_OFF
    const own = [...before.values()].filter((state) => state.rule === rule.name)
    const limited = limitGroups(groups, new Set(own.map(({ group }) => group.key)))
    const found = new Map(limited.map((group) => [group.key, group]))
    for (const key of new Set([...own.map(({ group }) => group.key), ...found.keys()])) {
      const step = { nowMs, rule, seen: found.get(key), isComplete }
      const at = alertKey({ rule: rule.name, group: { key } })
      const kept = before.get(at)
      const old = kept && isOver(kept) ? undefined : kept
      const state = stepAlert(old, step, () => newRunId(nowMs, randomBytes(10)))
      if (state) after.set(at, rule.spec.enabled ? state : silentEnd(state, nowMs))
      else after.delete(at)
    }
  }
  return after
}
