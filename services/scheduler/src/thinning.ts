import { setTimeout as delay } from 'node:timers/promises'
import { type Db, listRetentions, noteRetentions, readClock, thinHistory } from '@jadwal/db'
import { DAY, HOUR } from '@jadwal/domain'
import type { RedisClock, Reign } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Catalogue } from './catalogue.ts'

/** The shortest rest between two batches; it rests as long as a batch took, so it takes half of one connection. */
const REST_MS = 50

export interface ThinningDeps {
  db: Db
  redisClock: RedisClock
  log: Logger
  catalogue: Catalogue
  retentionDays: number
  reign: Reign
}

/**
 * Deletes what jobs keep shorter than others, once a day, and again when a job says something else: what
 * goes on a day goes by whole days. Ages go by the earlier of the clocks of Redis and Postgres.
 */
export class Thinning {
  readonly #deps: ThinningDeps
  /** What was thinned last: the day, and what the jobs said. */
  #done = ''

  constructor(deps: ThinningDeps) {
    this.#deps = deps
  }

  /** Returns ms until the next time. */
  async round(): Promise<number> {
    const { db, redisClock, catalogue, retentionDays, log, reign } = this.#deps
    const nowMs = Math.min(redisClock.nowMs(), (await readClock(db)).getTime())
    const now = new Date(nowMs)
    await noteRetentions(db, catalogue.jobs(), now)
    const retentions = await listRetentions(db)
    const due = JSON.stringify([Math.floor(nowMs / DAY), retentions])
    if (due !== this.#done) {
      let isWhole = true
      const pause = async (tookMs: number): Promise<boolean> => {
        await delay(Math.max(tookMs, REST_MS), undefined, { ref: false })
        isWhole = reign.trusted()
        return isWhole
      }
      const deleted = await thinHistory(db, { now, retentionDays, retentions, pause })
      if (deleted > 0) log.info({ deleted }, 'runs deleted that their jobs keep no longer')
      if (isWhole) this.#done = due
    }
    return Math.min(HOUR, DAY - (nowMs % DAY) + 1)
  }
}
