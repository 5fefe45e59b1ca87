import { createHash } from 'node:crypto'
import type { ScheduleId } from './ids.ts'
import type { ScheduleSpec } from './schedule.ts'

/** How long every run of a schedule waits: the same part of its `jitter` each time, from its id. */
export function jitterMs(scheduleId: ScheduleId, spec: Pick<ScheduleSpec, 'jitter'>): number {
  return spec.jitter ? jitterSeed(scheduleId) % spec.jitter : 0
}

/** What a schedule's part of any jitter comes from: the remainder is its wait. */
export function jitterSeed(scheduleId: ScheduleId): number {
  return createHash('sha256').update(scheduleId).digest().readUInt32BE(0)
}
