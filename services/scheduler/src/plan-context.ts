import type { JobDescription, Pause, ScheduleId, ScheduleSpec, SkippedRange } from '@jadwal/domain'
import type { PayloadCipher } from '@jadwal/queue'

/** A row of the history for ticks in a row that got no run for one reason. */
export type SkippedRow = Omit<SkippedRange, 'verdict'>

/** No queue has this name: nothing fires into it. */
export const NO_QUEUE = ''

/** What planning is done with, the same for all schedules of a chunk but for the row. */
export interface PlanContext {
  nowMs: number
  nowIso: string
  term: number
  queue: string
  /** A job as workers serve it; undefined when none ever did. */
  jobOf: (job: string) => JobDescription | undefined
  /** Encrypts payloads where jobs ask for it. */
  cipher: PayloadCipher | undefined
  /** The pauses that hold for every schedule. */
  pauses: readonly Pause[]
  /** At most so many runs; what is owed beyond comes the next time. */
  maxRuns: number
  /** The row that the last ticks decided went into, when they were skipped. */
  row?: SkippedRow | undefined
}

/** What a verdict is about. */
export interface Subject {
  schedule: { id: ScheduleId; name: string }
  spec: ScheduleSpec
  context: PlanContext
}
