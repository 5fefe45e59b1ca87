import {
  type AttemptRow,
  findRun,
  type RecordedRun,
  type RunRow,
  type RunView,
  runView,
} from '@jadwal/db'
import { isEnded, type RunFact } from '@jadwal/domain'
import { findDecision, findRunInRedis, type FoundRun, listQueues } from '@jadwal/queue'
import type { ApiDeps } from './api-deps.ts'
import { askHistory, askRedis } from './ask.ts'

/**
 * A run as it is now: its row in Postgres, or what Redis knows beyond it; undefined when neither has
 * heard of it. Either may be away as long as the other has the answer; else throws the `Problem` of
 * the one that is away.
 *
 * A row that has ended is the answer, and otherwise says in which queue to look. A run goes from Redis
 * to Postgres, so one that was not found in Redis may have arrived in Postgres meanwhile.
 */
export async function readRun(deps: ApiDeps, id: string): Promise<RunView | undefined> {
  const view = await readWithoutDecision(deps, id)
  const isOpen = view?.state === 'dead' && !view.redrivenAs && !view.discarded
  return isOpen ? await withDecision(deps, view) : view
}

/** What was decided about a dead letter is in Redis before it is recorded. */
async function withDecision({ redis, prefix }: ApiDeps, view: RunView): Promise<RunView> {
  const { value: decision } = await outcome(findDecision(redis, prefix, view))
  if (decision?.kind === 'redriven') return { ...view, redrivenAs: decision.redrivenAs }
  if (decision?.kind !== 'discarded') return view
  const { at, by, reason } = decision
  return { ...view, discarded: { at, by, reason } }
}

async function readWithoutDecision(deps: ApiDeps, id: string): Promise<RunView | undefined> {
  const early = await outcome(askHistory(() => findRun(deps.db, id)))
  const before = early.value
  if (before && isEnded(before.run.state)) return viewOf(before)
  const live = await outcome(askRedis(() => readLive(deps, id, before?.run.queue)))
  const fact = live.value
  if (fact && (!before || fact.revision > before.run.revision))
    return withProgress(runView(rowOf(fact), withAttemptOf(fact, before?.attempts ?? [])), fact)
  const late =
    early.error === undefined ? await outcome(askHistory(() => findRun(deps.db, id))) : early
  const found = late.value ?? before
  if (found) return withProgress(viewOf(found), fact)
  if (live.error !== undefined) throw live.error
  if (late.error !== undefined) throw late.error
  return undefined
}

function viewOf({ run, attempts, settled }: RecordedRun): RunView {
  return runView(run, attempts, settled)
}

/**
 * Rows do not have it: only Redis knows how far a handler is, and when a run is due that was put
 * forward while it waited for a retry.
 */
function withProgress(view: RunView, fact: Partial<FoundRun> = {}): RunView {
  const { progress, run_at, revision } = fact
  if (isEnded(view.state) || revision === undefined) return view
  const runAt = run_at == null || fact.state !== view.state ? {} : { runAt: run_at }
  return { ...view, ...runAt, ...(progress === undefined ? {} : { progress }) }
}

async function readLive(
  { redis, prefix }: ApiDeps,
  id: string,
  queue: string | undefined,
): Promise<FoundRun | undefined> {
  const queues = queue === undefined ? await listQueues(redis, prefix) : [queue]
  return await findRunInRedis(redis, prefix, { queues, id })
}

async function outcome<T>(work: Promise<T>): Promise<{ value?: T; error?: unknown }> {
  try {
    return { value: await work }
  } catch (error) {
    return { error }
  }
}

/** The row that the recorder would make of a fact. */
export function rowOf(fact: RunFact): RunRow {
  const enqueuedAt = new Date(fact.enqueued_at)
  return {
    id: fact.id,
    revision: fact.revision,
    state: fact.state,
    reason: fact.reason ?? null,
    job: fact.job,
    queue: fact.queue,
    schedule_id: fact.schedule_id ?? null,
    schedule: fact.schedule ?? null,
    tick_at: date(fact.tick_at),
    tick_until: date(fact.tick_until),
    tick_count: fact.tick_count ?? null,
    term: fact.term ?? null,
    payload: fact.payload,
    labels: fact.labels ?? null,
    priority: fact.priority ?? null,
    enqueued_at: enqueuedAt,
    run_at: date(fact.run_at),
    attempt: fact.attempt,
    worker: fact.worker ?? null,
    started_at: date(fact.started_at),
    finished_at: date(fact.finished_at),
    result: fact.result ?? null,
    error: fact.error ?? null,
    redrive_of: fact.redrive_of ?? null,
    recorded_at: enqueuedAt,
    backfill_id: fact.backfill_id ?? null,
    late_due_at: date(fact.late_due_at),
    late_at: null,
    parent_id: fact.parent_id ?? null,
    idempotency_key: fact.idempotency_key ?? null,
    concurrency_key: fact.concurrency_key ?? null,
    fingerprint: fact.fingerprint ?? null,
    search: fact.search ?? null,
  }
}

/** The recorded attempts, and the one that the fact is of. */
export function withAttemptOf(fact: RunFact, attempts: readonly AttemptRow[]): AttemptRow[] {
  const others = attempts.filter((each) => each.attempt !== fact.attempt)
  if (fact.attempt < 1 || fact.attempt_state == null) return [...attempts]
  return [
    ...others,
    {
      run_id: fact.id,
      attempt: fact.attempt,
      state: fact.attempt_state,
      worker: fact.worker ?? null,
      started_at: date(fact.started_at),
      finished_at: date(fact.attempt_finished_at),
      error: fact.error ?? null,
      recorded_at: new Date(fact.enqueued_at),
      log: fact.log ?? null,
    },
  ]
}

function date(instant: string | null | undefined): Date | null {
  return instant == null ? null : new Date(instant)
}
