import { type Db, listUnfinishedRuns, rowMessage, type RunRow, stillUnfinished } from '@jadwal/db'
import { fingerprint, MINUTE, revision, type RunFact } from '@jadwal/domain'
import {
  deadLetterFields,
  endLostRun,
  type LostRun,
  oldestFactMs,
  type RedisClock,
  runsWithoutMessage,
} from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Redis } from 'ioredis'

/** Younger runs are not looked at: their facts may be on their way. */
const OLDER_THAN_MS = 5 * MINUTE
/** By so much our clock may be behind that of Redis, which dates the facts. */
const CLOCK_MARGIN_MS = 5_000
const AT_ONCE = 1_000
const MOST_SUSPECTS = 10_000
const EACH_MS = MINUTE

export interface LostRunsDeps {
  db: Db
  redis: Redis
  redisClock: RedisClock
  prefix: string
  log: Logger
}

/**
 * The net under the history: a run that Postgres has as unfinished and that has no message in Redis,
 * because Redis lost it, will never end by itself.
 *
 * A message is also gone when the run has just ended and its fact waits in the outbox. So a run is
 * only a suspect at first; it is lost when a round later every fact from before the suspicion has been
 * recorded and the row still stands.
 */
export class LostRuns {
  readonly #deps: LostRunsDeps
  #suspects = new Map<string, { queue: string; sinceMs: number }>()
  #afterId: string | undefined

  constructor(deps: LostRunsDeps) {
    this.#deps = deps
  }

  /** Ends suspects that are lost, and looks at the next page of unfinished runs. Returns ms until the next round. */
  async round(): Promise<number> {
    await this.#endLost()
    await this.#suspectMore()
    return EACH_MS
  }

  async #endLost(): Promise<void> {
    const { db, redis, redisClock, prefix, log } = this.#deps
    const ripe = (await this.#ripe()).slice(0, AT_ONCE)
    for (const row of await stillUnfinished(db, ripe)) {
      if (
        await endLostRun(redis, prefix, lostRun(row, new Date(redisClock.nowMs()).toISOString()))
      ) {
        log.error(
          { run: row.id, job: row.job, queue: row.queue },
          'run lost by Redis moved to dead letters',
        )
      }
    }
    for (const id of ripe) this.#suspects.delete(id)
  }

  /** Suspects of whose queues every fact from before the suspicion has been recorded. */
  async #ripe(): Promise<string[]> {
    const { redis, prefix } = this.#deps
    const oldest = new Map<string, number>()
    for (const { queue } of this.#suspects.values()) {
      if (!oldest.has(queue)) oldest.set(queue, await oldestFactMs(redis, prefix, queue))
    }
    return [...this.#suspects].flatMap(([id, { queue, sinceMs }]) =>
      (oldest.get(queue) ?? 0) > sinceMs + CLOCK_MARGIN_MS ? [id] : [],
    )
  }

  async #suspectMore(): Promise<void> {
    if (this.#suspects.size >= MOST_SUSPECTS) return
    const { db, redis, redisClock, prefix } = this.#deps
    const before = new Date(redisClock.nowMs() - OLDER_THAN_MS)
    const page = {
      limit: AT_ONCE,
      ...(this.#afterId === undefined ? {} : { afterId: this.#afterId }),
    }
    const rows = await listUnfinishedRuns(db, before, page)
    this.#afterId = rows.length < AT_ONCE ? undefined : rows.at(-1)?.id
    const missing = await runsWithoutMessage(redis, prefix, rows)
    const sinceMs = redisClock.nowMs()
    for (const { id, queue } of missing) {
      if (!this.#suspects.has(id)) this.#suspects.set(id, { queue, sinceMs })
    }
  }
}

function lostRun(row: RunRow, nowIso: string): LostRun {
  const error = { name: 'LostRunError', message: 'Redis no longer had the message of this run' }
  const fact: RunFact = {
    kind: 'run',
    id: row.id,
    revision: Math.max(revision(row.attempt, 'dead'), row.revision + 1),
    state: 'dead',
    reason: 'lost',
    job: row.job,
    queue: row.queue,
    schedule_id: row.schedule_id,
    schedule: row.schedule,
    tick_at: iso(row.tick_at),
    term: row.term,
    payload: row.payload,
    labels: row.labels,
    priority: row.priority,
    enqueued_at: row.enqueued_at.toISOString(),
    run_at: iso(row.run_at),
    attempt: row.attempt,
    worker: row.worker,
    started_at: iso(row.started_at),
    finished_at: nowIso,
    result: null,
    error,
    fingerprint: fingerprint(row.job, error),
    redrive_of: row.redrive_of,
    backfill_id: row.backfill_id,
    late_due_at: iso(row.late_due_at),
    parent_id: row.parent_id,
    idempotency_key: row.idempotency_key,
    concurrency_key: row.concurrency_key,
  }
  const letter = deadLetterFields({
    job: row.job,
    data: rowMessage(row),
    enqueuedAtMs: row.enqueued_at.getTime(),
    failures: row.attempt,
    priority: row.priority ?? 0,
    death: { reason: 'lost', error, attempt: row.attempt, at: nowIso },
  })
  const leaves = row.backfill_id ?? row.schedule_id ?? ''
  return { id: row.id, queue: row.queue, fact: JSON.stringify(fact), leaves, letter }
}

function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null
}
