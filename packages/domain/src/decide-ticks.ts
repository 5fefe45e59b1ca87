import { DAY } from './clock.ts'
import { type OwnReason, ownReason } from './own-reason.ts'
import type { Pause } from './pause.ts'
import type { RunReason } from './run.ts'
import type { ScheduleSpec, ScheduleVersion } from './schedule.ts'
import { nextVersionTick } from './version-ticks.ts'

/** `unknown-job`: no worker served the job of a version for as long as it ruled. */
export type SkipReason = OwnReason | Extract<RunReason, 'misfire' | 'unknown-job'>

export interface SkippedRange {
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

/** The time that decisions are made at, and the pauses that hold for the schedule. */
export interface DecisionTime {
  nowMs: number
  pauses?: readonly Pause[]
}

/** More owed ticks than this are decided in portions, so that no outage, however long, stops the loop. */
const PORTION = 10_000

/**
 * Decides the ticks that a version owes: those in (last, min(now, the version's end)], within the
 * schedule's dates, both ends included. A tick that is paused, kept from by a calendar, or of a
 * schedule in shadow mode is skipped; of the others, one that is late by no more than
 * `misfire.after` simply fires late, and the rest are misfires. After a long outage of a dense
 * schedule the answer is a portion of what is owed.
 */
export function decideTicks(
  version: ScheduleVersion,
  lastMs: number,
  { nowMs, pauses = [] }: DecisionTime,
): Decision {
  const { spec } = version
  const { ticks, next } = owedTicks(version, lastMs, nowMs)
  if (ticks.length === 0) return { verdicts: [], lastMs, more: false }
  const reasonOf = ownReason(version, pauses)
  const late = (tickAtMs: number) => nowMs - tickAtMs > spec.misfire.after
  const live = reasonOf ? ticks.filter((tickAtMs) => !reasonOf(tickAtMs)) : ticks
  const firstPunctual = live.findIndex((tickAtMs) => !late(tickAtMs))
  const misfired = firstPunctual === -1 ? live : live.slice(0, firstPunctual)
  const end = next !== undefined && late(next) ? openEnd(ticks, misfired, spec) : ticks.length
  const decided = ticks.slice(0, end)
  // Before an open end no misfire is among the newest.
  const rescued = new Set(end < ticks.length ? [] : misfiresToFire(misfired, spec, nowMs))
  const verdicts: Verdict[] = []
  for (const tickAtMs of decided) {
    const reason =
      reasonOf?.(tickAtMs) ?? (late(tickAtMs) && !rescued.has(tickAtMs) ? 'misfire' : undefined)
    if (reason === undefined) verdicts.push({ verdict: 'fire', tickAtMs })
    else skip(verdicts, reason, tickAtMs)
  }
  const newest = decided.at(-1) ?? lastMs
  return { verdicts, lastMs: newest, more: end < ticks.length || next !== undefined }
}

/** The ticks owed, oldest first, at most a portion; `next` is the first one beyond the portion. */
function owedTicks(
  version: ScheduleVersion,
  lastMs: number,
  nowMs: number,
): { ticks: number[]; next?: number } {
  const ticks: number[] = []
  let tick = nextVersionTick(version, lastMs)
  while (tick !== undefined && tick <= nowMs) {
    if (ticks.length === PORTION) return { ticks, next: tick }
    ticks.push(tick)
    tick = nextVersionTick(version, tick)
  }
  return { ticks }
}

/**
 * How many ticks of a portion can be decided while more misfires may follow: those that the policy
 * may yet fire are left for the next portion, which knows which misfires are the newest. Misfires at
 * the very head of a portion are decided by themselves, else a long pause after them would end in
 * asking for the same portion for ever.
 */
function openEnd(
  ticks: readonly number[],
  misfired: readonly number[],
  spec: ScheduleSpec,
): number {
  const { policy, limit } = spec.misfire
  const left = { skip: 0, once: 1, all: limit }[policy]
  const firstLeft = left === 0 ? undefined : misfired.slice(-left)[0]
  const end = firstLeft === undefined ? ticks.length : ticks.indexOf(firstLeft)
  return end === 0 ? ticks.length : end
}

/** Of all misfires, oldest first, the newest ones that the policy fires. */
function misfiresToFire(
  misfired: readonly number[],
  { misfire }: ScheduleSpec,
  nowMs: number,
): number[] {
  const { policy, limit, within = Infinity } = misfire
  if (policy === 'skip' || misfired.length === 0) return []
  const newest = misfired.slice(policy === 'once' ? -1 : -limit)
  return newest.filter((tickAtMs) => nowMs - tickAtMs <= within)
}

/** Adds a skipped tick: to the range that the last verdict is, when it has the same reason and began within a day. */
function skip(verdicts: Verdict[], reason: SkipReason, tickAtMs: number): void {
  const last = verdicts.at(-1)
  if (last?.verdict === 'skip' && last.reason === reason && tickAtMs - last.tickAtMs < DAY) {
    last.untilMs = tickAtMs
    last.count += 1
  } else {
    verdicts.push({ verdict: 'skip', reason, tickAtMs, untilMs: tickAtMs, count: 1 })
  }
}
