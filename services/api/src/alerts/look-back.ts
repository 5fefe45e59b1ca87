import { type AlertRule, type AlertState, DAY, isOfEvents, MINUTE, ruleMs } from '@jadwal/domain'
import type { AlertSnapshot } from '@jadwal/queue'

/** What happened longer ago is old news, whatever kept it from being seen. */
const FARTHEST_MS = 7 * DAY

/**
 * From when on (ms) a rule of events looks: its window; or from where it looked last, as nobody may have
 * evaluated since; or as far as the events of an alert that opened within the window, which else would end
 * before it was told of.
 */
export function lookBackTo(
  { spec, seenUntil }: AlertRule & { seenUntil: Date | null },
  own: readonly AlertState[],
  nowMs: number,
): number {
  if (!isOfEvents(spec.kind) || !('window' in spec.parameters)) return nowMs
  const windowMs = ruleMs(spec.parameters.window)
  const young = own
    .filter(({ openedMs }) => openedMs !== undefined && nowMs - openedMs < windowMs)
    .map(({ group: { firstMs = nowMs } }) => firstMs)
  const wanted = Math.min(nowMs - windowMs, seenUntil?.getTime() ?? nowMs, ...young)
  return Math.max(wanted, nowMs - FARTHEST_MS)
}

/** Facts of what happened before this instant have all been recorded, clocks that differ a little allowed for. */
export function seenUntilMs({ nowMs, outboxes }: AlertSnapshot): number {
  const longestLagMs = Math.max(0, ...outboxes.map(({ lagMs }) => lagMs))
  return nowMs - longestLagMs - MINUTE
}
