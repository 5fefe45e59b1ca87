import { type AttemptRow, findRun, type RunRow, type RunView, runView } from '@jadwal/db'
import { isEnded, type RunFact } from '@jadwal/domain'
import { findRunInRedis, listQueues } from '@jadwal/queue'
import type { ApiDeps } from './api-deps.ts'
import { askHistory, askRedis } from './ask.ts'

/**
 * A run as it is now: its row in Postgres, or what Redis knows beyond it; undefined when neither has
 * heard of it. Redis is asked first, because that is the way a run goes. Either may be away as long as
 * the other has the answer; else throws the `Problem` of the one that is away.
 */
export async function readRun(deps: ApiDeps, id: string): Promise<RunView | undefined> {
  const live = await outcome(askRedis(() => readLive(deps, id)))
  const recorded = await outcome(askHistory(() => findRun(deps.db, id)))
  const row = recorded.value?.run
  const fact = live.value
  const attempts = recorded.value?.attempts ?? []
  if (fact && (!row || (!isEnded(row.state) && fact.revision > row.revision)))
    return runView(rowOf(fact), withAttemptOf(fact, attempts))
  if (row) return runView(row, attempts)
  if (live.error !== undefined) throw live.error
  if (recorded.error !== undefined) throw recorded.error
  return undefined
}

async function readLive({ redis, prefix }: ApiDeps, id: string): Promise<RunFact | undefined> {
  const queues = await listQueues(redis, prefix)
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
function rowOf(fact: RunFact): RunRow {
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
  }
}

/** The recorded attempts, and the one that the fact is of. */
function withAttemptOf(fact: RunFact, attempts: readonly AttemptRow[]): AttemptRow[] {
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
    },
  ]
}

function date(instant: string | null | undefined): Date | null {
  return instant == null ? null : new Date(instant)
}
