import { type Cadence, formatDuration } from '@jadwal/domain'
import { type LoadReport, peakOf } from './load-report.ts'
import type { CadenceAnswer, LoadAnswer } from './load-schema.ts'

const NAMES = 5

/** A load report as the api shows it. */
export function loadView(report: LoadReport): LoadAnswer {
  const { fromMs, toMs, bucketMs, buckets, schedules, peaks, warnings } = report
  return {
    from: iso(fromMs),
    to: iso(toMs),
    bucket: formatDuration(bucketMs),
    schedules,
    ticks: buckets.reduce((sum, ticks) => sum + ticks, 0),
    buckets: [...buckets.entries()]
      .filter(([, ticks]) => ticks > 0)
      .map(([at, ticks]) => ({ at: iso(fromMs + at * bucketMs), ticks })),
    peaks: peaks.map((peak) => ({
      at: iso(peak.atMs),
      ticks: peak.ticks,
      schedules: peak.schedules,
      cadences: peak.cadences.map(({ cadence, ticks, schedules: count, names }) => ({
        cadence: cadenceView(cadence),
        ticks,
        schedules: count,
        names,
      })),
    })),
    proposal: proposalView(report),
    warnings,
  }
}

/** What to give jitter to, and the fullest second and bucket before and after. */
function proposalView(report: LoadReport): LoadAnswer['proposal'] {
  const { proposal, seconds } = report
  if (!proposal) return null
  return {
    peak: { before: peakOf(report, seconds), after: peakOf(report, proposal.seconds) },
    changes: [...proposal.jitters]
      .toSorted(([a], [b]) => b.members.length - a.members.length)
      .map(([{ cadence, members }, jitterMs]) => ({
        cadence: cadenceView(cadence),
        jitter: formatDuration(jitterMs),
        schedules: members.length,
        names: members.slice(0, NAMES).map(({ name }) => name),
      })),
  }
}

/** As a schedule file writes it. */
function cadenceView(cadence: Cadence): CadenceAnswer {
  if (cadence.kind === 'cron')
    return { cron: cadence.expression, timezone: cadence.timezone, dst: dstOf(cadence) }
  const { everyMs, offsetMs } = cadence
  return {
    every: formatDuration(everyMs),
    ...(offsetMs === 0 ? {} : { offset: formatDuration(offsetMs) }),
  }
}

function dstOf({ gap, fold }: Extract<Cadence, { kind: 'cron' }>) {
  return { gap, fold }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
