/**
 * The ledger checker: from schedules, a period and what was seen, it tells what is wrong. It knows
 * nothing of the product's code: a schedule is a period and an offset, a tick is a multiple of it.
 */
export interface ExpectedSchedule {
  id: string
  everyMs: number
  /** Ticks in (fromMs, untilMs] are expected. */
  fromMs: number
  untilMs: number
}

/** One time that somebody was handed a run. */
export interface Sighting {
  scheduleId: string
  tickAtMs: number
  /** By the clock of the same machine. */
  seenAtMs: number
}

export interface TickReport {
  expected: number
  /** How many ticks were not seen, and the first of them. */
  missing: string[]
  doubled: string[]
  /** Seen before its instant. */
  early: string[]
  /** Seen in the period, and no schedule has such a tick. */
  unexpected: string[]
  /** The latest sighting after its instant, ms. */
  latestMs: number
}

export function checkTicks(
  schedules: readonly ExpectedSchedule[],
  sightings: readonly Sighting[],
): TickReport {
  const times = new Map<string, number>()
  const report: TickReport = {
    expected: 0,
    missing: [],
    doubled: [],
    early: [],
    unexpected: [],
    latestMs: 0,
  }
  const byId = new Map(schedules.map((schedule) => [schedule.id, schedule]))
  for (const { scheduleId, tickAtMs, seenAtMs } of sightings) {
    const schedule = byId.get(scheduleId)
    const name = `${scheduleId}@${new Date(tickAtMs).toISOString()}`
    if (!schedule || tickAtMs % schedule.everyMs !== 0 || tickAtMs <= schedule.fromMs)
      report.unexpected.push(name)
    if (schedule && tickAtMs > schedule.untilMs) continue
    if (seenAtMs < tickAtMs) report.early.push(name)
    report.latestMs = Math.max(report.latestMs, seenAtMs - tickAtMs)
    times.set(name, (times.get(name) ?? 0) + 1)
  }
  for (const { id, everyMs, fromMs, untilMs } of schedules) {
    for (
      let tick = Math.floor(fromMs / everyMs) * everyMs + everyMs;
      tick <= untilMs;
      tick += everyMs
    ) {
      report.expected += 1
      if (!times.has(`${id}@${new Date(tick).toISOString()}`))
        report.missing.push(`${id}@${new Date(tick).toISOString()}`)
    }
  }
  report.missing = shortened(report.missing)
  report.doubled = [...times]
    .filter(([, count]) => count > 1)
    .map(([name, count]) => `${name} ×${count}`)
  return report
}

/** Thousands of names say no more than ten. */
function shortened(names: string[]): string[] {
  return names.length > 10 ? [...names.slice(0, 10), `… ${names.length} in all`] : names
}
