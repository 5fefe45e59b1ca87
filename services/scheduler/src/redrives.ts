import {
  changeRedriveState,
  type Db,
  type DeadLetterFilters,
  findReturned,
  findSettled,
  type LetterPosition,
  listRunningRedrives,
  listUnsettledLetters,
  notEnded,
  noteRedrive,
  type RedriveRow,
  rowMessage,
  type RunRow,
  stopRedrive,
} from '@jadwal/db'
import { redriveRunId } from '@jadwal/domain'
import {
  type DeadLetters,
  listQueues,
  oldestFactMs,
  type RedisClock,
  type RedriveResult,
} from '@jadwal/queue'
import { type Logger, rateLimitedErrors } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import { isInCanary, nextCanaryStep } from './canary.ts'
import type { Catalogue } from './catalogue.ts'

const EACH_MS = 500
/** Letters of one round, and of those that are in memory at a time, at most. */
const A_ROUND = 500
const AT_ONCE = 100
/** By so much our clock may be behind that of Redis, which dates the facts. */
const CLOCK_MARGIN_MS = 5_000

export interface RedrivesDeps {
  db: Db
  redis: Redis
  redisClock: RedisClock
  prefix: string
  catalogue: Pick<Catalogue, 'queueOf'>
  deadLetters: DeadLetters
  log: Logger
  redisIsFull: () => boolean
}

/** A walk of a leader through the letters of a redrive. */
interface Walk {
  after: LetterPosition | undefined
  /** Every fact from before the redrive had been recorded when it began. */
  isWhole: boolean
  /** It met a letter that is redriven by it, or has been settled and is not recorded so yet. */
  foundAny: boolean
  /** Letters that it had to leave, and their jobs. */
  left: Map<string, string>
}

/**
 * Carries out redrives, as far as each may go now. Nothing but what was decided about each letter says
 * how far one is: a leader begins with the first letter that nobody has settled, and one that was
 * redriven before it was recorded has the same new run.
 */
export class Redrives {
  readonly #deps: RedrivesDeps
  readonly #failed: (error: unknown) => void
  readonly #walks = new Map<string, Walk>()
  /** When each may make runs again, by its rate. */
  readonly #nextAtMs = new Map<string, number>()

  constructor(deps: RedrivesDeps) {
    this.#deps = deps
    this.#failed = rateLimitedErrors(deps.log, 'redrive does not go on')
  }

  /** Brings every redrive on its way. Returns ms until the next round. */
  async round(): Promise<number> {
    const { db, redisIsFull } = this.#deps
    if (redisIsFull()) return EACH_MS
    let more = false
    for (const redrive of await listRunningRedrives(db)) {
      try {
        more = (await this.#advance(redrive)) || more
      } catch (error) {
        this.#failed(error)
      }
    }
    return more ? 0 : EACH_MS
  }

  /** True when it could go on at once. */
  async #advance(redrive: RedriveRow): Promise<boolean> {
    if (redrive.canary && (await this.#isStopped(redrive))) return false
    if (isInCanary(redrive)) {
      await this.#advanceCanary(redrive)
      return false
    }
    const walk = this.#walks.get(redrive.id) ?? (await this.#beginWalk(redrive))
    let room = this.#allowed(redrive)
    while (room > 0) {
      const limit = Math.min(room, AT_ONCE)
      const letters = await this.#walkOn(redrive, walk, limit)
      if (letters < limit) {
        await this.#endWalk(redrive, walk)
        return false
      }
      room -= letters
    }
    return redrive.rate === null
  }

  /** Redrives the next letters of a walk. Returns how many there were. */
  async #walkOn(redrive: RedriveRow, walk: Walk, limit: number): Promise<number> {
    const page = { after: walk.after, limit }
    const rows = await listUnsettledLetters(this.#deps.db, filtersOf(redrive), page)
    const results = await this.#redrive(redrive, rows)
    this.#spend(redrive, results.filter((result) => 'isNew' in result && result.isNew).length)
    const left = leftOver(results)
    for (const [id, job] of left) walk.left.set(id, job)
    walk.foundAny ||= left.size < results.length
    const last = rows.at(-1)
    if (last?.finished_at) walk.after = { finished_at: last.finished_at, id: last.id }
    return rows.length
  }

  /** A letter whose fact came late may lie before where the walk has been, so the last one finds nothing. */
  async #endWalk(redrive: RedriveRow, walk: Walk): Promise<void> {
    const { db, redisClock, log } = this.#deps
    this.#walks.delete(redrive.id)
    if (!walk.isWhole || walk.foundAny) return
    const at = new Date(redisClock.nowMs())
    await this.#note(redrive, walk.left)
    const done = await changeRedriveState(db, redrive.id, { from: ['running'], to: 'done', at })
    if (done) log.info({ redrive: redrive.id, left: walk.left.size }, 'redrive done')
  }

  /**
   * A step is over when what was decided about its letters, and the end of every run that was made of
   * them, is recorded.
   */
  async #advanceCanary(redrive: RedriveRow): Promise<void> {
    const { db } = this.#deps
    const { canary_letters: ids } = redrive
    const filters = filtersOf(redrive)
    const rows = await listUnsettledLetters(db, { ...filters, ids }, { limit: AT_ONCE })
    if (rows.length > 0) {
      const results = await this.#redrive(redrive, rows)
      return await this.#note(redrive, leftOver(results))
    }
    const newIds = (await findSettled(db, ids)).flatMap((settled) => settled.redriven_as ?? [])
    if ((await notEnded(db, newIds)).length > 0 || (await this.#isStopped(redrive))) return
    await nextCanaryStep(db, redrive, filters)
  }

  async #redrive(redrive: RedriveRow, rows: readonly RunRow[]): Promise<RedriveResult[]> {
    if (rows.length === 0) return []
    const { db, catalogue, deadLetters } = this.#deps
    const going = new Set(
      await notEnded(
        db,
        rows.map(({ id }) => redriveRunId(id)),
      ),
    )
    const letters = rows.map((row) => ({
      id: row.id,
      queue: row.queue,
      copy: { job: row.job, message: rowMessage(row), priority: row.priority ?? 0 },
      isMade: !going.has(redriveRunId(row.id)),
    }))
    return await deadLetters.redrive(letters, {
      by: redrive.author,
      redrive: redrive.id,
      queueOf: (job) => catalogue.queueOf(job),
    })
  }

  async #isStopped(redrive: RedriveRow): Promise<boolean> {
    const { db, redisClock, log } = this.#deps
    const returned = await findReturned(db, redrive)
    if (!returned) return false
    const at = new Date(redisClock.nowMs())
    if (await stopRedrive(db, redrive.id, { ...returned, at }))
      log.warn({ redrive: redrive.id, ...returned }, 'redrive stopped, a run died as before')
    return true
  }

  async #beginWalk({ id, created_at }: RedriveRow): Promise<Walk> {
    const { redis, prefix } = this.#deps
    const oldest = await Promise.all(
      (await listQueues(redis, prefix)).map((queue) => oldestFactMs(redis, prefix, queue)),
    )
    const isWhole = Math.min(...oldest, Infinity) > created_at.getTime() + CLOCK_MARGIN_MS
    const walk: Walk = { after: undefined, isWhole, foundAny: false, left: new Map() }
    this.#walks.set(id, walk)
    return walk
  }

  async #note(redrive: RedriveRow, left: ReadonlyMap<string, string>): Promise<void> {
    const jobs = [...new Set(left.values())].filter((job) => job !== '')
    const problem = jobs.length === 0 ? null : `no worker has served the job ${jobs[0]} yet`
    if (redrive.refused === left.size && redrive.problem === problem) return
    await noteRedrive(this.#deps.db, redrive.id, { refused: left.size, problem })
  }

  /** How many runs its rate lets it make now: no burst after a wait. */
  #allowed({ id, rate }: RedriveRow): number {
    if (rate === null) return A_ROUND
    const nowMs = this.#deps.redisClock.nowMs()
    if (nowMs < (this.#nextAtMs.get(id) ?? nowMs)) return 0
    return Math.min(A_ROUND, Math.max(1, Math.floor((rate * EACH_MS) / 1_000)))
  }

  #spend({ id, rate }: RedriveRow, runs: number): void {
    if (rate === null || runs === 0) return
    const nowMs = this.#deps.redisClock.nowMs()
    const fromMs = Math.max(this.#nextAtMs.get(id) ?? nowMs, nowMs - EACH_MS)
    this.#nextAtMs.set(id, fromMs + (runs / rate) * 1_000)
  }
}

/** Only letters that died before it was asked for. */
function filtersOf({ filter, created_at }: RedriveRow): DeadLetterFilters {
  const { from, to, ...rest } = filter
  const until =
    to === undefined ? created_at : new Date(Math.min(Date.parse(to), created_at.getTime()))
  return { ...rest, ...(from === undefined ? {} : { from: new Date(from) }), to: until }
}

/** The letters that stay, with their jobs; those that somebody has settled do not. */
function leftOver(results: readonly RedriveResult[]): Map<string, string> {
  return new Map(
    results.flatMap((result): [string, string][] =>
      'refused' in result && result.refused !== 'discarded' ? [[result.id, result.job ?? '']] : [],
    ),
  )
}
