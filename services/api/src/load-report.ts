import type { Db } from '@jadwal/db'
import {
  type Clock,
  countStarts,
  highest,
  type JitterProposal,
  type LoadGroup,
  loadGroups,
  type LoadPeak,
  loadPeaks,
  type LoadPeriod,
  perBucket,
  proposeJitter,
} from '@jadwal/domain'
import { inSlices } from './in-slices.ts'
import { readPlannedSchedules } from './planned-schedules.ts'
import { type ScheduleWarning, worstWarnings } from './schedule-warnings.ts'

const PEAKS = 10

export interface LoadRequest extends LoadPeriod {
  bucketMs: number
}

export interface LoadReport extends LoadRequest {
  schedules: number
  buckets: Uint32Array
  seconds: Uint32Array
  peaks: LoadPeak[]
  proposal: JitterProposal | undefined
  /** Groups, the largest first. */
  groups: readonly LoadGroup[]
  warnings: ScheduleWarning[]
}

/** Works out what the schedules in force bring in a period. Throws TooManyTicksError. */
export async function makeLoadReport(
  { db, clock }: { db: Db; clock: Clock },
  request: LoadRequest,
): Promise<LoadReport> {
  const { bucketMs, ...period } = request
  const planned = await readPlannedSchedules(db, Math.min(clock.now().getTime(), period.fromMs))
  const groups = await inSlices(loadGroups(planned, period), clock)
  const seconds = await inSlices(countStarts(groups, period), clock)
  const shown = { period, bucketMs, count: PEAKS }
  return {
    ...request,
    schedules: groups.reduce((sum, { members }) => sum + members.length, 0),
    buckets: perBucket(seconds, bucketMs),
    seconds,
    peaks: await inSlices(loadPeaks(groups, seconds, shown), clock),
    proposal: await inSlices(proposeJitter(groups, seconds, period), clock),
    groups,
    warnings: await worstWarnings(db, planned),
  }
}

export function peakOf(
  report: LoadReport,
  seconds: Uint32Array,
): { second: number; bucket: number } {
  return { second: highest(seconds), bucket: highest(perBucket(seconds, report.bucketMs)) }
}
