import { grouped, shortened } from './history.ts'

/** A time during which a run was being executed. */
export interface Execution {
  scheduleId: string
  runId: string
  fromMs: number
  untilMs: number
}

/** Of schedules that forbid it: the runs that were executed while another was, or the same one twice. */
export function checkOverlaps(executions: readonly Execution[]): string[] {
  const overlaps: string[] = []
  for (const [scheduleId, own] of grouped(executions, (each) => each.scheduleId)) {
    let last: Execution | undefined
    for (const next of own.toSorted((a, b) => a.fromMs - b.fromMs)) {
      if (last && next.fromMs < last.untilMs)
        overlaps.push(
          `${scheduleId}: ${next.runId} began ${last.untilMs - next.fromMs} ms before the end of ${last.runId}`,
        )
      if (!last || next.untilMs > last.untilMs) last = next
    }
  }
  return shortened(overlaps)
}
