import type { AttemptState, LogLine, RunError, RunReason, RunState } from '@jadwal/domain'
import type { AttemptRow, RunRow, SettledLetterRow } from './database.ts'

/** A run as the api shows it. Times are ISO 8601 in UTC; what is absent is not there. */
export interface RunView {
  id: string
  job: string
  queue: string
  state: RunState
  reason?: RunReason
  payload: unknown
  result?: unknown
  /** While the run has not ended: what its handler told last of how far it is. */
  progress?: unknown
  error?: RunError
  schedule?: string
  scheduleId?: string
  tickAt?: string
  /** Of a range of skipped ticks: its last one, and how many there are. */
  tickUntil?: string
  tickCount?: number
  term?: number
  redriveOf?: string
  backfillId?: string
  /** When it is late, unless it has succeeded by then; and when it was found to be. */
  lateDueAt?: string
  lateAt?: string
  /** The run whose handler enqueued it. */
  parentId?: string
  idempotencyKey?: string
  /** What its job counts it under, where it limits how many of a kind run at once. */
  concurrencyKey?: string
  /** Of a dead run: the same for all that died of the same cause. */
  fingerprint?: string
  /** Of a dead run: the run that was made of it. */
  redrivenAs?: string
  discarded?: Discarded
  labels?: Record<string, string>
  priority: number
  enqueuedAt: string
  /** When a delayed or retrying run is due. */
  runAt?: string
  startedAt?: string
  finishedAt?: string
  attempts: AttemptView[]
}

/** How a dead letter was settled without a new run. */
export interface Discarded {
  at: string
  by: string
  reason: string
}

export interface AttemptView {
  attempt: number
  state: AttemptState
  worker: string | null
  startedAt: string | null
  finishedAt?: string
  error?: RunError
  /** The last lines that its handler logged. */
  log?: LogLine[]
}

/** A run with its attempts, and what was decided about it when it is dead, from their rows. */
export function runView(
  run: RunRow,
  attempts: readonly AttemptRow[],
  settled?: Omit<SettledLetterRow, 'run_id' | 'redrive_id' | 'recorded_at'>,
): RunView {
  return {
    id: run.id,
    job: run.job,
    queue: run.queue,
    state: run.state,
    payload: run.payload,
    priority: run.priority ?? 0,
    enqueuedAt: run.enqueued_at.toISOString(),
    attempts: attemptViews(run, attempts),
    ...present({
      reason: run.reason,
      result: run.result,
      error: run.error,
      schedule: run.schedule,
      scheduleId: run.schedule_id,
      tickAt: iso(run.tick_at),
      tickUntil: iso(run.tick_until),
      tickCount: run.tick_count,
      term: run.term,
      redriveOf: run.redrive_of,
      backfillId: run.backfill_id,
      lateDueAt: iso(run.late_due_at),
      lateAt: iso(run.late_at),
      parentId: run.parent_id,
      idempotencyKey: run.idempotency_key,
      concurrencyKey: run.concurrency_key,
      fingerprint: run.fingerprint,
      redrivenAs: settled?.redriven_as,
      discarded: discarded(settled),
      labels: run.labels,
      runAt: iso(run.run_at),
      startedAt: iso(run.started_at),
      finishedAt: iso(run.finished_at),
    }),
  }
}

function discarded(settled: Parameters<typeof runView>[2]): Discarded | null {
  if (!settled || settled.discard_reason === null) return null
  const { settled_at, settled_by: by, discard_reason: reason } = settled
  return { at: settled_at.toISOString(), by, reason }
}

function attemptViews(run: RunRow, rows: readonly AttemptRow[]): AttemptView[] {
  const told = toldByRun(run)
  const own = rows.filter((row) => row.attempt !== told?.attempt || row.state !== 'running')
  const views = own.map((row) => attemptView(run, row))
  if (told && !own.some((row) => row.attempt === told.attempt)) views.push(told)
  return views.toSorted((a, b) => a.attempt - b.attempt)
}

/** An attempt that is still `running` under a run that went on without it lost its worker. */
function attemptView(run: RunRow, row: AttemptRow): AttemptView {
  const gone = row.state === 'running' && (row.attempt < run.attempt || run.finished_at !== null)
  return {
    attempt: row.attempt,
    state: gone ? 'lost' : row.state,
    worker: row.worker,
    startedAt: iso(row.started_at),
    ...present({ finishedAt: iso(row.finished_at), error: row.error, log: row.log }),
  }
}

/** The attempt that only the run's row tells of: one that runs, or a first one that succeeded at once. */
function toldByRun(run: RunRow): AttemptView | undefined {
  if (run.attempt < 1 || (run.state !== 'running' && run.state !== 'succeeded')) return undefined
  return {
    attempt: run.attempt,
    state: run.state,
    worker: run.worker,
    startedAt: iso(run.started_at),
    ...present({ finishedAt: iso(run.finished_at) }),
  }
}

function iso(instant: Date | null): string | null {
  return instant?.toISOString() ?? null
}

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> }

/** Leaves out what is null, so that an answer has only what there is to say. */
function present<T extends object>(values: T): Present<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<T>
}
