import { type Db, deleteOldStats, foldRunStats, readClock } from '@jadwal/db'
import { HOUR, SECOND } from '@jadwal/domain'
import type { RedisClock } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'

const FOLD_EACH_MS = 10 * SECOND

export interface StatsKeeperDeps {
  db: Db
  redisClock: RedisClock
  log: Logger
  /** How long rows of days are kept. */
  statsDays: number
}

/** Folds what recorders count into rows by minute, hour and day, and lets old rows go, in one reign. */
export class StatsKeeper {
  readonly #deps: StatsKeeperDeps
  #deletedAtMs = -Infinity

  constructor(deps: StatsKeeperDeps) {
    this.#deps = deps
  }

  /** Returns ms until the next time. */
  async round(): Promise<number> {
    const { db, redisClock, log, statsDays } = this.#deps
    const { moved, more } = await foldRunStats(db)
    if (moved > 0) log.debug({ rows: moved }, 'statistics folded')
    if (more) return 0
    const nowMs = redisClock.nowMs()
    if (nowMs - this.#deletedAtMs >= HOUR) {
      // What is deleted is gone: a clock that runs ahead deletes nothing by itself.
      const now = new Date(Math.min(nowMs, (await readClock(db)).getTime()))
      await deleteOldStats(db, { now, statsDays })
      this.#deletedAtMs = nowMs
    }
    return FOLD_EACH_MS
  }
}
