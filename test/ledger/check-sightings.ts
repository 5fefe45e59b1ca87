import { type ExpectedSchedule, expectedTicks } from './expected-schedule.ts'
import { shortened, tickName } from './history.ts'

/** One time that somebody was handed a run. */
export interface Sighting {
  scheduleId: string
  tickAtMs: number
  /** By the clock of the same machine. */
  seenAtMs: number
}

export interface SightingReport {
  expected: number
  /** Expected, and nobody was handed it. */
  missing: string[]
  doubled: string[]
  /** Seen before its instant. */
  early: string[]
  /** Seen, and the schedule has no such tick. */
  unexpected: string[]
  /** The latest sighting after its instant, ms. */
  latestMs: number
}

/** The ledger checker, for what was handed out: it needs no history, and believes none. */
export function checkSightings(
  schedules: readonly ExpectedSchedule[],
  sightings: readonly Sighting[],
  untilMs: number,
): SightingReport {
  const times = new Map<string, number>()
  const report: SightingReport = {
    expected: 0,
    missing: [],
    doubled: [],
    early: [],
    unexpected: [],
    latestMs: 0,
  }
  for (const { scheduleId, tickAtMs, seenAtMs } of sightings) {
    if (tickAtMs > untilMs) continue
    const name = tickName(scheduleId, tickAtMs)
    if (seenAtMs < tickAtMs) report.early.push(name)
    report.latestMs = Math.max(report.latestMs, seenAtMs - tickAtMs)
    times.set(name, (times.get(name) ?? 0) + 1)
  }
  const expected = new Set<string>()
  for (const schedule of schedules)
    for (const atMs of expectedTicks(schedule, untilMs).ticks.keys())
      expected.add(tickName(schedule.id, atMs))
  report.expected = expected.size
  report.missing = shortened([...expected].filter((name) => !times.has(name)))
  report.unexpected = shortened([...times.keys()].filter((name) => !expected.has(name)))
  report.doubled = [...times]
    .filter(([, count]) => count > 1)
    .map(([name, count]) => `${name} ×${count}`)
  return report
}
