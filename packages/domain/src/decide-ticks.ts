import { createHash } from 'node:crypto'
import type { ScheduleId } from './ids.ts'
import { nextTick } from './next-tick.ts'
import type { RunReason } from './run.ts'
import { scheduleCadence, type ScheduleSpec, type ScheduleVersion } from './schedule.ts'

type SkipReason = Extract<RunReason, 'paused' | 'misfire' | 'shadow'>

/** What is to become of a tick, or of a range of ticks that share their verdict. */
export type Verdict =
  | { verdict: 'fire'; tickAtMs: number }
  | { verdict: 'skip'; reason: SkipReason; tickAtMs: number; untilMs: number; count: number }

export interface Decision {
  verdicts: Verdict[]
  /** The last tick that the verdicts cover; what was passed in when nothing is owed. */
  lastMs: number
}

/** More owed ticks than this are decided in portions, so that no outage, however long, stops the loop. */
const PORTION = 50_000

/**
 * Decides every tick that a version owes: those in (last, min(now, the version's end)].
 * A tick that is late by no more than `misfire.after` simply fires late.
 */
export function decideTicks(version: ScheduleVersion, lastMs: number, nowMs: number): Decision {
  const { spec } = version
  const end = Math.min(nowMs, version.untilMs ?? Infinity)
  const owed = owedTicks(version, Math.max(lastMs, version.fromMs), end)
  const last = owed.at(-1)
  if (last === undefined) return { verdicts: [], lastMs }
  const quiet = spec.paused ? 'paused' : spec.mode === 'shadow' ? 'shadow' : undefined
  if (quiet) return { verdicts: [range(owed, quiet)], lastMs: last }

  const firstPunctual = owed.findIndex((tickAtMs) => nowMs - tickAtMs <= spec.misfire.after)
  const misfired = firstPunctual === -1 ? owed : owed.slice(0, firstPunctual)
  const punctual = firstPunctual === -1 ? [] : owed.slice(firstPunctual)
  const rescued = misfiresToFire(misfired, spec, { nowMs, more: owed.length === PORTION })
  const skipped = misfired.slice(0, misfired.length - rescued.length)
  return {
    verdicts: [
      ...(skipped.length > 0 ? [range(skipped, 'misfire')] : []),
      ...[...rescued, ...punctual].map((tickAtMs) => ({ verdict: 'fire' as const, tickAtMs })),
    ],
    lastMs: last,
  }
}

/** How long every run of a schedule waits: the same part of its `jitter` each time, from its id. */
export function jitterMs(scheduleId: ScheduleId, spec: ScheduleSpec): number {
  if (!spec.jitter) return 0
  return createHash('sha256').update(scheduleId).digest().readUInt32BE(0) % spec.jitter
}

/** The ticks in (after, end] within the schedule's dates, oldest first, at most a portion. */
function owedTicks(version: ScheduleVersion, afterMs: number, endMs: number): number[] {
  const { spec } = version
  const cadence = scheduleCadence(spec)
  const from = spec.startsAt ? Math.max(afterMs, Date.parse(spec.startsAt) - 1) : afterMs
  const end = spec.endsAt ? Math.min(endMs, Date.parse(spec.endsAt)) : endMs
  const ticks: number[] = []
  let tick = nextTick(cadence, from)
  while (tick !== undefined && tick <= end && ticks.length < PORTION) {
    ticks.push(tick)
    tick = nextTick(cadence, tick)
  }
  return ticks
}

function misfiresToFire(
  misfired: number[],
  spec: ScheduleSpec,
  at: { nowMs: number; more: boolean },
): number[] {
  const { policy, limit, within } = spec.misfire
  const recent =
    within === undefined ? misfired : misfired.filter((tickAtMs) => at.nowMs - tickAtMs <= within)
  if (policy === 'skip' || at.more) return []
  return recent.slice(policy === 'once' ? -1 : -limit)
}

function range(ticks: number[], reason: SkipReason): Verdict {
  const tickAtMs = ticks[0] ?? 0
  return {
    verdict: 'skip',
    reason,
    tickAtMs,
    untilMs: ticks.at(-1) ?? tickAtMs,
    count: ticks.length,
  }
}
