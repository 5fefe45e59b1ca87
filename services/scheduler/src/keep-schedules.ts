import { type Db, loadSchedules, OWES_FOR_MS, readScheduleRevision } from '@jadwal/db'
import { HOUR } from '@jadwal/domain'
import type { RedisClock } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { ScheduleBook } from './schedule-book.ts'
import type { SchedulerMetrics } from './scheduler-metrics.ts'

const FORGET_EACH_MS = HOUR

export interface KeepSchedulesDeps {
  db: Db
  book: ScheduleBook
  redisClock: RedisClock
  metrics: SchedulerMetrics
  log: Logger
}

/** Keeps the book like the schedules in Postgres: all of them at first, then what has changed. */
export class ScheduleKeeper {
  readonly #deps: KeepSchedulesDeps
  #revision: number | undefined
  #forgotAtMs: number | undefined

  constructor(deps: KeepSchedulesDeps) {
    this.#deps = deps
  }

  /** Takes in what has changed since the last time. Whether anything had. */
  async refresh(): Promise<boolean> {
    const { db, book, redisClock, log, metrics } = this.#deps
    this.#forget(redisClock.nowMs())
    if (this.#revision !== undefined && (await readScheduleRevision(db)) === this.#revision)
      return false
    const { revision, schedules, pauses, problems } = await loadSchedules(db, this.#revision)
    for (const problem of problems)
      log.error(problem, 'stored schedule does not parse, its version is left out')
    book.pauses = pauses
    book.put(schedules, redisClock.nowMs())
    this.#revision = revision
    metrics.schedules.set(book.size)
    log.info({ schedules: schedules.length, of: book.size, revision }, 'schedules loaded')
    return true
  }

  /** A process that runs for months holds no more than one that was just started. */
  #forget(nowMs: number): void {
    this.#forgotAtMs ??= nowMs
    if (Math.abs(nowMs - this.#forgotAtMs) < FORGET_EACH_MS) return
    this.#deps.book.forget(nowMs - OWES_FOR_MS)
    this.#forgotAtMs = nowMs
  }
}
