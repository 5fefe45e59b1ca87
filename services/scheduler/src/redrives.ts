import {
  changeRedriveState,
  copyLetters,
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
  type RunRow,
  stopRedrive,
} from '@jadwal/db'
import { redriveRunId } from '@jadwal/domain'
import type { DeadLetters, RedisClock, RedrivenJob, RedriveResult } from '@jadwal/queue'
import { type Logger, rateLimitedErrors } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import { isInCanary, nextCanaryStep } from './canary.ts'
import type { Catalogue } from './catalogue.ts'
import { Pace } from './pace.ts'
import { CLOCK_MARGIN_MS, recordedUntilMs } from './recorded-until.ts'

const EACH_MS = 500
/** Letters of one round, and of those that are in memory at a time, at most. */
const A_ROUND = 500
const AT_ONCE = 100

export interface RedrivesDeps {
  db: Db
  redis: Redis
  redisClock: RedisClock
  prefix: string
  catalogue: { job: (name: string) => RedrivenJob | undefined; names: Catalogue['names'] }
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
  left: Left
}

/** Letters that stay. */
interface Left {
  count: number
  /** Why the first of those stays for which something can be done. */
  problem: string | undefined
}

/**
 * Carries out redrives, as far as each may go now. Nothing but what was decided about each letter says
 * how far one is: a leader begins with the first letter that nobody has settled, and one that was
 * redriven before it was recorded has the same new run.
 */
export class Redrives {
  readonly #deps: RedrivesDeps
  readonly #failed: (error: unknown) => void
  readonly #pace = new Pace({ ms: EACH_MS, runs: A_ROUND })
  readonly #walks = new Map<string, Walk>()
  /** When the last walk of each ended, where another has to follow. */
  readonly #walkedAtMs = new Map<string, number>()

  constructor(deps: RedrivesDeps) {
    this.#deps = deps
    this.#failed = rateLimitedErrors(deps.log, 'redrive does not go on')
  }

  /** Brings every redrive on its way. Returns ms until the next round. */
  async round(): Promise<number> {
    const { db, catalogue, redisIsFull } = this.#deps
    // A leader that has not heard of any job yet would take all of them for unserved.
    if (redisIsFull() || catalogue.names().length === 0) return EACH_MS
    const running = await listRunningRedrives(db)
    this.#forgetOthers(new Set(running.map(({ id }) => id)))
    let more = false
    for (const redrive of running) {
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
    if (!walk) return false
    let room = this.#pace.allowed(redrive, this.#deps.redisClock.nowMs())
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
    const runs = results.filter((result) => 'isNew' in result && result.isNew).length
    this.#pace.spend(redrive, { runs, nowMs: this.#deps.redisClock.nowMs() })
    const left = leftOver(results)
    walk.left = {
      count: walk.left.count + left.count,
      problem: walk.left.problem ?? left.problem,
    }
    walk.foundAny ||= left.count < results.length
    const last = rows.at(-1)
    if (last?.finished_at) walk.after = { finished_at: last.finished_at, id: last.id }
    return rows.length
  }

  /** A letter whose fact came late may lie before where the walk has been, so the last one finds nothing. */
  async #endWalk(redrive: RedriveRow, walk: Walk): Promise<void> {
    const { db, redisClock, log } = this.#deps
    this.#walks.delete(redrive.id)
    const at = new Date(redisClock.nowMs())
    if (!walk.isWhole || walk.foundAny) {
      this.#walkedAtMs.set(redrive.id, at.getTime())
      return
    }
    await this.#note(redrive, walk.left)
    const done = await changeRedriveState(db, redrive.id, { from: ['running'], to: 'done', at })
    if (done) log.info({ redrive: redrive.id, left: walk.left.count }, 'redrive done')
  }

  /**
   * A step is over when what was decided about its letters, and the end of every run that was made of
   * them, is recorded. Letters that can't be redriven hold up nothing.
   */
  async #advanceCanary(redrive: RedriveRow): Promise<void> {
    const { db } = this.#deps
    const { canary_letters: ids } = redrive
    const filters = filtersOf(redrive)
    const rows = await listUnsettledLetters(db, { ...filters, ids }, { limit: AT_ONCE })
    const left = leftOver(await this.#redrive(redrive, rows))
    if (left.count > 0) await this.#note(redrive, left)
    if (left.count < rows.length) return
    const newIds = (await findSettled(db, ids)).flatMap((settled) => settled.redriven_as ?? [])
    if ((await notEnded(db, newIds)).length > 0 || (await this.#isStopped(redrive))) return
    const isWhole = async (): Promise<boolean> =>
      await this.#isRecorded(redrive.created_at.getTime())
    const served = { ...filters, jobs: this.#deps.catalogue.names() }
    await nextCanaryStep(db, redrive, { filters: served, isWhole })
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
    const copies = await copyLetters(db, rows)
    const letters = rows.map(({ id, queue }) => {
      const copy = copies.get(id)
      return { id, queue, ...(copy ? { copy } : {}), hasEnded: !going.has(redriveRunId(id)) }
    })
    return await deadLetters.redrive(letters, {
      by: redrive.author,
      redrive: redrive.id,
      jobOf: (job) => catalogue.job(job),
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

  /** Undefined while what the last walk decided is not recorded: this one would only meet it again. */
  async #beginWalk({ id, created_at }: RedriveRow): Promise<Walk | undefined> {
    const walkedAtMs = this.#walkedAtMs.get(id)
    if (walkedAtMs !== undefined && !(await this.#isRecorded(walkedAtMs))) return undefined
    const isWhole = await this.#isRecorded(created_at.getTime())
    const left = { count: 0, problem: undefined }
    const walk: Walk = { after: undefined, isWhole, foundAny: false, left }
    this.#walks.set(id, walk)
    return walk
  }

  /** Whether every fact from before an instant has been recorded. */
  async #isRecorded(beforeMs: number): Promise<boolean> {
    const { redis, prefix } = this.#deps
    return (await recordedUntilMs(redis, prefix)) > beforeMs + CLOCK_MARGIN_MS
  }

  async #note(redrive: RedriveRow, left: Left): Promise<void> {
    const { count, problem = null } = left
    if (redrive.refused === count && redrive.problem === problem) return
    await noteRedrive(this.#deps.db, redrive.id, { refused: count, problem })
  }

  #forgetOthers(ids: ReadonlySet<string>): void {
    for (const kept of [this.#walks, this.#walkedAtMs])
      for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id)
    this.#pace.keep(ids)
  }
}

/** Only letters that died before it was asked for, and none that it made: clocks may differ. */
function filtersOf({ id, filter, created_at }: RedriveRow): DeadLetterFilters {
  const { from, to, ...rest } = filter
  const until =
    to === undefined ? created_at : new Date(Math.min(Date.parse(to), created_at.getTime()))
  const since = from === undefined ? {} : { from: new Date(from) }
  return { ...rest, ...since, to: until, notMadeBy: id }
}

/** Those that somebody has settled do not stay. */
function leftOver(results: readonly RedriveResult[]): Left {
  const left = results.flatMap((result) =>
    'refused' in result && result.refused !== 'discarded' ? [result] : [],
  )
  return { count: left.length, problem: left.map(problemOf).find((problem) => problem !== '') }
}

function problemOf({ job, detail }: { job?: string; detail?: string }): string {
  return detail ?? (job === undefined ? '' : `no worker has served the job ${job} yet`)
}
