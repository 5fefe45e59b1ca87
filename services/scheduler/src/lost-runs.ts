import {
  countFailedAttempts,
  type Db,
  listUnfinishedRuns,
  type RunRow,
  stillUnfinished,
} from '@jadwal/db'
import { isRedacted, MINUTE, ScheduleId } from '@jadwal/domain'
import {
  endLostRun,
  oldestFactMs,
  putBackLostRun,
  type RedisClock,
  runsWithoutMessage,
} from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import type { Catalogue } from './catalogue.ts'
import { endOfLost, returnOfLost } from './lost-run.ts'
import { CLOCK_MARGIN_MS } from './recorded-until.ts'
import type { ScheduleBook } from './schedule-book.ts'

/** Younger runs are not looked at: their facts may be on their way. */
const OLDER_THAN_MS = 5 * MINUTE
const AT_ONCE = 1_000
const MOST_SUSPECTS = 10_000
const EACH_MS = MINUTE

export interface LostRunsDeps {
  db: Db
  redis: Redis
  redisClock: RedisClock
  prefix: string
  /** Says what becomes of a job's lost runs. */
  catalogue: Pick<Catalogue, 'job'>
  book: Pick<ScheduleBook, 'get'>
  log: Logger
}

/**
 * The net under the history: a run that Postgres has as unfinished and that has no message in Redis,
 * because Redis lost it, will never end by itself. It is made again or ends as a dead letter, as its job
 * says (`onLost`); that of a job which no worker ever published is dead.
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

  /**
   * Brings suspects that are lost to where they go, and looks at the next page of unfinished runs.
   * Returns ms until the next round: after a large loss one follows the other.
   */
  async round(): Promise<number> {
    const hasMoreLost = await this.#endSuspicions()
    const hasMoreRuns = await this.#suspectMore()
    return hasMoreLost || hasMoreRuns ? 0 : EACH_MS
  }

  /** True when there are more that can go at once. */
  async #endSuspicions(): Promise<boolean> {
    const { db } = this.#deps
    const allRipe = await this.#ripe()
    const ripe = allRipe.slice(0, AT_ONCE)
    const lost = await stillUnfinished(db, ripe)
    const failures = await countFailedAttempts(
      db,
      lost.filter(({ attempt }) => attempt > 0).map(({ id }) => id),
    )
    const waiting = new Map<string, { queue: string; sinceMs: number }>()
    for (const row of lost) {
      const isDone = await this.#endOrPutBack(row, failures.get(row.id) ?? 0)
      const suspect = this.#suspects.get(row.id)
      if (!isDone && suspect) waiting.set(row.id, suspect)
    }
    for (const id of ripe) this.#suspects.delete(id)
    // Those that wait for another run of their schedule come last in the next round.
    for (const [id, suspect] of waiting) this.#suspects.set(id, suspect)
    // Where all of them wait, the others may too.
    return allRipe.length > AT_ONCE && waiting.size < ripe.length
  }

  /** False when it has to wait. */
  async #endOrPutBack(row: RunRow, failures: number): Promise<boolean> {
    const { redis, redisClock, prefix, catalogue, log } = this.#deps
    const facts = { run: row.id, job: row.job, queue: row.queue, attempt: row.attempt }
    const job = catalogue.job(row.job)
    if (!job || job.onLost === 'dead-letter' || isRedacted(row.payload)) {
      const nowIso = new Date(redisClock.nowMs()).toISOString()
      const end = endOfLost(row, { nowIso, rules: job })
      if (await endLostRun(redis, prefix, end))
        log.error(facts, 'run lost by Redis moved to dead letters')
      return true
    }
    const back = returnOfLost(row, { failures, spec: this.#specOf(row), rules: job })
    const result = await putBackLostRun(redis, prefix, back)
    if (result === 'put-back') log.warn(facts, 'run lost by Redis put back')
    return result !== 'waits'
  }

  /** Of the schedule's version in force, or its last; undefined for runs of no schedule. */
  #specOf(row: RunRow) {
    if (row.schedule_id === null) return undefined
    return this.#deps.book.get(ScheduleId.parse(row.schedule_id))?.versions.at(-1)?.spec
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

  /** True when there are more unfinished runs to look at. */
  async #suspectMore(): Promise<boolean> {
    if (this.#suspects.size >= MOST_SUSPECTS) return false
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
    return this.#afterId !== undefined
  }
}
