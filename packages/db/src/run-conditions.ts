import type { RunState } from '@jadwal/domain'

export interface RunFilters {
  job?: string
  queue?: string
  /** Any of these. */
  states?: readonly RunState[]
  /** Name of a schedule. */
  schedule?: string
  /** The run whose handler enqueued them. */
  parent?: string
  backfill?: string
  /** The name of the error that its last attempt ended with. */
  error?: string
  idempotencyKey?: string
  /** A run has all of these. */
  labels?: Record<string, string>
  /** Ticks that were found to be late. */
  late?: true
  /** By the time in the run's id: when it was enqueued, or its tick. From, inclusive. */
  from?: Date
  /** To, exclusive. */
  to?: Date
  /** A run's id, an idempotency key, a job's name, or words that its error and search text have all of. */
  q?: string
}

/** Filters whose schedule has been looked up. */
export type Conditions = Omit<RunFilters, 'schedule' | 'from' | 'to'> & { scheduleId?: string }
