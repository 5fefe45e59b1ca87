import { createHash } from 'node:crypto'
import type { ScheduleId } from './ids.ts'
import { nextTick } from './next-tick.ts'
import type { RunReason } from './run.ts'
import { scheduleCadence, type ScheduleSpec, type ScheduleVersion } from './schedule.ts'

type SkipReason = Extract<RunReason, 'paused' | 'misfire' | 'shadow'>

interface SkippedRange {
  verdict: 'skip'
  reason: SkipReason
  tickAtMs: number
  untilMs: number
  count: number
}

/** What is to become of a tick, or of a range of ticks that share their verdict. */
export type Verdict = { verdict: 'fire'; tickAtMs: number } | SkippedRange

export interface Decision {
  verdicts: Verdict[]
  /** The last tick that the verdicts cover; what was passed in when nothing is owed. */
  lastMs: number
  /** Further ticks are owed: ask again from `lastMs`. */
  more: boolean
}

/** More owed ticks than this are decided in portions, so that no outage, however long, stops the loop. */
const PORTION = 10_000

/**
 * Decides the ticks that a version owes: those in (last, min(now, the version's end)], within the
 * schedule's dates, both ends included. A tick that is late by no more than `misfire.after` simply
 * fires late. After a long outage of a dense schedule the answer is a portion of what is owed.
 */
export function decideTicks(version: ScheduleVersion, lastMs: number, nowMs: number): Decision {
  const { spec } = version
  const { ticks, next } = owedTicks(version, lastMs, nowMs)
  const newest = ticks.at(-1)
  if (newest === undefined) return { verdicts: [], lastMs, more: false }
  const quiet = spec.paused ? 'paused' : spec.mode === 'shadow' ? 'shadow' : undefined
  const more = next !== undefined
  if (quiet) return { verdicts: [range(ticks, quiet)], lastMs: newest, more }

  const late = (tickAtMs: number) => nowMs - tickAtMs > spec.misfire.after
  if (next !== undefined && late(next)) return skipAllButNewest(ticks, spec)
  const firstPunctual = ticks.findIndex((tickAtMs) => !late(tickAtMs))
  const misfired = firstPunctual === -1 ? ticks : ticks.slice(0, firstPunctual)
  const rescued = misfiresToFire(misfired, spec, nowMs)
  const skipped = misfired.slice(0, misfired.length - rescued.length)
  const fired = [...rescued, ...ticks.slice(misfired.length)]
  return {
    verdicts: [
      ...(skipped.length > 0 ? [range(skipped, 'misfire')] : []),
      ...fired.map((tickAtMs) => ({ verdict: 'fire' as const, tickAtMs })),
    ],
    lastMs: newest,
    more,
  }
}

/** How long every run of a schedule waits: the same part of its `jitter` each time, from its id. */
export function jitterMs(scheduleId: ScheduleId, spec: ScheduleSpec): number {
  if (!spec.jitter) return 0
  return createHash('sha256').update(scheduleId).digest().readUInt32BE(0) % spec.jitter
}

/** The ticks owed, oldest first, at most a portion; `next` is the first one beyond the portion. */
function owedTicks(
  version: ScheduleVersion,
  lastMs: number,
  nowMs: number,
): { ticks: number[]; next?: number } {
  const { spec, fromMs, untilMs = Infinity } = version
  const starts = spec.startsAt ? Date.parse(spec.startsAt) - 1 : -Infinity
  const ends = spec.endsAt ? Date.parse(spec.endsAt) : Infinity
  const end = Math.min(nowMs, untilMs, ends)
  const cadence = scheduleCadence(spec)
  const ticks: number[] = []
  let tick = nextTick(cadence, Math.max(lastMs, fromMs, starts))
  while (tick !== undefined && tick <= end) {
    if (ticks.length === PORTION) return { ticks, next: tick }
    ticks.push(tick)
    tick = nextTick(cadence, tick)
  }
  return { ticks }
}

/**
 * A whole portion of misfires with more of them to come. Those that the policy may yet fire are left
 * for the next portion, which knows which misfires are the newest.
 */
function skipAllButNewest(ticks: number[], { misfire }: ScheduleSpec): Decision {
  const left = { skip: 0, once: 1, all: misfire.limit }[misfire.policy]
  const skipped = ticks.slice(0, ticks.length - left)
  const verdict = range(skipped, 'misfire')
  return { verdicts: [verdict], lastMs: verdict.untilMs, more: true }
}

/** Of all misfires, oldest first, the newest ones that the policy fires. */
function misfiresToFire(misfired: number[], { misfire }: ScheduleSpec, nowMs: number): number[] {
  const { policy, limit, within = Infinity } = misfire
  if (policy === 'skip' || misfired.length === 0) return []
  const newest = misfired.slice(policy === 'once' ? -1 : -limit)
  return newest.filter((tickAtMs) => nowMs - tickAtMs <= within)
}

function range(ticks: number[], reason: SkipReason): SkippedRange {
  const [tickAtMs = 0] = ticks
  const untilMs = ticks.at(-1) ?? tickAtMs
  return { verdict: 'skip', reason, tickAtMs, untilMs, count: ticks.length }
}
