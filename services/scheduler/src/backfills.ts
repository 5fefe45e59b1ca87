import {
  changeBackfillState,
  type Db,
  listActiveBackfills,
  listCoveredTicks,
  markBackfillCleaned,
  type NamedBackfill,
  recordBackfillProgress,
} from '@jadwal/db'
import { type BackfillStretch, backfillTicks, isPausedAt, ScheduleSpec } from '@jadwal/domain'
import {
  cancelWaitingRun,
  livingRuns,
  MissingKeyError,
  type PayloadCipher,
  type RedisClock,
  type Reign,
} from '@jadwal/queue'
import { type Logger, rateLimitedErrors } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import { BackfillProgress, type Progress } from './backfill-progress.ts'
import type { Catalogue } from './catalogue.ts'
import { isLeaseLost } from './firing.ts'
import type { FiringQueues } from './firing-queues.ts'
import { Pace } from './pace.ts'
import type { ScheduleBook } from './schedule-book.ts'

const EACH_MS = 500
/** Ticks that are looked at in one round, and runs that are made in it, at most. */
const LOOKED_AT = 500
/** What one round sends to Redis for a backfill at most, more or less: Redis does nothing else meanwhile. */
const STEP_BYTES = 4 * 1024 * 1024
/** Of one run, beside what is in the spec: ids, instants, names and options. */
const RUN_BYTES = 2_048

export interface BackfillsDeps {
  db: Db
  redis: Redis
  redisClock: RedisClock
  prefix: string
  catalogue: Catalogue
  book: ScheduleBook
  /** Connections of its own: an EXEC would end the WATCH of the firing loop on a shared one. */
  queues: FiringQueues
  log: Logger
  redisIsFull: () => boolean
  /** Encrypts payloads where jobs ask for it; without it such backfills wait. */
  cipher?: PayloadCipher | undefined
}

/** What a backfill can't go on for. */
class BackfillProblem extends Error {
  override name = 'BackfillProblem'
}

/**
 * Makes the runs of backfills, as many at a time as each allows. How far one is stands in its queue's
 * last-ticks hash, under its own id, and is changed in the MULTI that adds the runs: like a tick of a
 * schedule, a tick of a backfill gets one run, whoever leads and whatever crashes.
 */
export class Backfills {
  readonly #deps: BackfillsDeps
  readonly #reign: Reign
  readonly #failed: (error: unknown) => void
  readonly #pace = new Pace({ ms: EACH_MS, runs: LOOKED_AT })

  constructor(deps: BackfillsDeps, reign: Reign) {
    this.#deps = deps
    this.#reign = reign
    this.#failed = rateLimitedErrors(deps.log, 'backfill does not go on')
  }

  /** Brings every backfill on its way. Returns ms until the next round. */
  async round(): Promise<number> {
    const active = await listActiveBackfills(this.#deps.db)
    this.#pace.keep(new Set(active.map(({ id }) => id)))
    for (const backfill of active) {
      try {
        if (backfill.state === 'running') await this.#advance(backfill)
        if (backfill.state === 'cancelled' || backfill.state === 'done') await this.#clean(backfill)
      } catch (error) {
        if (isLeaseLost(error)) throw error
        this.#failed(error)
        if (error instanceof BackfillProblem && error.message !== backfill.problem)
          await recordBackfillProgress(this.#deps.db, backfill.id, { problem: error.message })
      }
    }
    return EACH_MS
  }

  async #advance(backfill: NamedBackfill): Promise<void> {
    const { redis, prefix, redisClock, book, redisIsFull } = this.#deps
    const nowMs = redisClock.nowMs()
    if (isPausedAt(book.pauses, nowMs) || redisIsFull()) return
    const spec = this.#spec(backfill)
    const living = await livingRuns(redis, prefix, { queue: backfill.queue, owner: backfill.id })
    const progress = new BackfillProgress(redis, prefix, backfill)
    const before = await progress.read()
    const range = {
      fromMs: backfill.from_at.getTime(),
      untilMs: backfill.until_at.getTime() - 1,
      spec,
      calendars: backfill.calendars,
    }
    const stretch = backfillTicks(range, before.positionMs, LOOKED_AT)
    const { ticks } = stretch
    if (ticks.length === 0 && stretch.end) {
      if (living.length === 0) await this.#finish(backfill, before)
      return
    }
    const room = Math.min(
      backfill.concurrency - living.length,
      this.#pace.allowed(backfill, nowMs),
      mostInStep(spec),
    )
    if (room < 1) return
    const covered = backfill.all_ticks
      ? new Set<number>()
      : await listCoveredTicks(this.#deps.db, backfill.schedule_id, ticks)
    const chosen = choose(stretch, covered, room)
    const queue = await this.#deps.queues.ready(backfill.queue)
    await queue.claim(this.#reign)
    const fired = await progress.fire(queue, {
      before,
      chosen,
      spec,
      rules: this.#deps.catalogue.job(spec.job),
      cipher: this.#deps.cipher,
      reign: this.#reign,
      nowMs: redisClock.nowMs(),
    })
    if (!fired) return
    this.#pace.spend(backfill, { runs: chosen.runs.length, nowMs })
    await recordBackfillProgress(this.#deps.db, backfill.id, { ...row(fired), problem: null })
  }

  async #finish(backfill: NamedBackfill, progress: Progress): Promise<void> {
    const { db, redisClock, log } = this.#deps
    await recordBackfillProgress(db, backfill.id, { ...row(progress), problem: null })
    const at = new Date(redisClock.nowMs())
    const ended = await changeBackfillState(db, backfill.id, { from: ['running'], to: 'done', at })
    if (!ended) return
    log.info({ backfill: backfill.id, schedule: backfill.schedule }, 'backfill done')
    await this.#clean(backfill)
  }

  /**
   * After its end: cancels the runs that wait, round by round until none is left. Those that a worker
   * has in hand go on to their end, but not to another attempt.
   */
  async #clean(backfill: NamedBackfill): Promise<void> {
    const { db, redis, prefix, redisClock, queues } = this.#deps
    const { queue, id: owner } = backfill
    // A leader before this one, which has not heard of the end, can make no more runs from here on.
    await (await queues.ready(queue)).claim(this.#reign)
    const now = new Date(redisClock.nowMs())
    const cancels = { redis, prefix, nowIso: now.toISOString() }
    for (const id of await livingRuns(redis, prefix, { queue, owner }))
      await cancelWaitingRun(cancels, { queue, id })
    if ((await livingRuns(redis, prefix, { queue, owner })).length > 0) return
    const progress = new BackfillProgress(redis, prefix, backfill)
    const last = await progress.read()
    if (last.positionMs >= backfill.from_at.getTime())
      await recordBackfillProgress(db, owner, row(last))
    await progress.forget()
    await markBackfillCleaned(db, owner, now)
  }

  /** Throws BackfillProblem when its runs could not be executed. */
  #spec(backfill: NamedBackfill): ScheduleSpec {
    const spec = ScheduleSpec.safeParse(backfill.spec)
    if (!spec.success) throw new BackfillProblem('its schedule was stored in a form not known here')
    const queue = this.#deps.catalogue.queueOf(spec.data.job)
    if (queue === undefined)
      throw new BackfillProblem(`no worker has served the job ${spec.data.job} yet`)
    const { encrypt } = this.#deps.catalogue.job(spec.data.job) ?? {}
    if (encrypt && !this.#deps.cipher)
      throw new BackfillProblem(new MissingKeyError(spec.data.job).message)
    if (queue !== backfill.queue)
      throw new BackfillProblem(
        `the job ${spec.data.job} moved to the queue ${queue}: cancel this backfill and make another`,
      )
    return spec.data
  }
}

/** How many runs make a step that is no larger than it may be. Message and fact both carry the payload. */
function mostInStep(spec: ScheduleSpec): number {
  const bytes = 2 * Buffer.byteLength(JSON.stringify([spec.payload, spec.labels])) + RUN_BYTES
  return Math.max(1, Math.floor(STEP_BYTES / bytes))
}

/** The ticks to deal with: those that get a run, at most `room`, and the last one that is passed over or gets one. */
function choose(
  { ticks, positionMs: endMs }: BackfillStretch,
  covered: ReadonlySet<number>,
  room: number,
): { runs: number[]; decided: number; positionMs: number } {
  const runs: number[] = []
  for (const [at, tick] of ticks.entries()) {
    const isWanted = !covered.has(tick)
    if (isWanted && runs.length >= room)
      return { runs, decided: at, positionMs: ticks[at - 1] ?? tick - 1 }
    if (isWanted) runs.push(tick)
  }
  return { runs, decided: ticks.length, positionMs: endMs }
}

function row(progress: Progress) {
  return {
    enqueued: progress.runs,
    skipped: progress.decided - progress.runs,
    position_at: new Date(progress.positionMs),
  }
}
