import { cronTicks } from './simple-cron.ts'

export type Cadence = { everyMs: number; offsetMs?: number } | { cron: string; timezone: string }

/** What a schedule said over a time: ticks in (fromMs, untilMs] are its. */
export interface ExpectedVersion {
  cadence: Cadence
  fromMs: number
  /** Absent on the one in force. */
  untilMs?: number
  paused?: boolean
}

export interface Span {
  fromMs: number
  untilMs?: number
}

/** A schedule as somebody wrote it, over time. */
export interface ExpectedSchedule {
  id: string
  versions: readonly ExpectedVersion[]
  /** Ticks in (fromMs, untilMs] are skipped. */
  pauses?: readonly Span[]
}

export interface ExpectedTick {
  atMs: number
  /** An earlier version has just ended: whoever had not heard of it yet may have decided instead. */
  loose: boolean
  paused: 'yes' | 'no' | 'either'
}

/** What is expected of a schedule up to an instant. */
export interface Expectation {
  ticks: Map<number, ExpectedTick>
  /** Ticks of versions that had just ended: they may be there, and need not. */
  extra: Map<number, ExpectedTick>
}

/** `reachMs`: how long a change may take to be heard of. */
export function expectedTicks(
  schedule: ExpectedSchedule,
  untilMs: number,
  reachMs = 0,
): Expectation {
  const { versions, pauses = [] } = schedule
  const found: Expectation = { ticks: new Map(), extra: new Map() }
  const tick = (atMs: number, version: ExpectedVersion): ExpectedTick => ({
    atMs,
    loose: versions.some((other) => other !== version && isJustAfter(other, atMs, reachMs)),
    paused: isPaused({ atMs, version, pauses, reachMs }),
  })
  for (const version of versions) {
    const endMs = Math.min(version.untilMs ?? Infinity, untilMs)
    for (const atMs of cadenceTicks(version.cadence, version.fromMs, endMs))
      found.ticks.set(atMs, tick(atMs, version))
    if (version.untilMs === undefined || reachMs === 0) continue
    const lateMs = Math.min(version.untilMs + reachMs, untilMs)
    for (const atMs of cadenceTicks(version.cadence, version.untilMs, lateMs))
      found.extra.set(atMs, { atMs, loose: true, paused: 'either' })
  }
  return found
}

/** The ticks of a cadence in (fromMs, untilMs]. */
export function cadenceTicks(cadence: Cadence, fromMs: number, untilMs: number): number[] {
  if ('cron' in cadence) return cronTicks(cadence, fromMs, untilMs)
  const { everyMs, offsetMs = 0 } = cadence
  const ticks: number[] = []
  const first = Math.floor((fromMs - offsetMs) / everyMs) * everyMs + everyMs + offsetMs
  for (let at = first; at <= untilMs; at += everyMs) ticks.push(at)
  return ticks
}

/** Has the version ended before this instant, and no longer ago than `reachMs`? */
function isJustAfter({ untilMs }: ExpectedVersion, atMs: number, reachMs: number): boolean {
  return untilMs !== undefined && untilMs < atMs && atMs <= untilMs + reachMs
}

function isPaused({
  atMs,
  version,
  pauses,
  reachMs,
}: {
  atMs: number
  version: ExpectedVersion
  pauses: readonly Span[]
  reachMs: number
}): ExpectedTick['paused'] {
  if (version.paused === true) return 'yes'
  const within = (fromMs: number, untilMs: number) => fromMs < atMs && atMs <= untilMs
  if (pauses.some((p) => within(p.fromMs + reachMs, p.untilMs ?? Infinity))) return 'yes'
  return pauses.some((p) => within(p.fromMs, (p.untilMs ?? Infinity) + reachMs)) ? 'either' : 'no'
}
