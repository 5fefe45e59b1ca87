import { setImmediate } from 'node:timers/promises'
import type { Clock, ScheduleId } from '@jadwal/domain'
import {
  type FiringQueue,
  type LastTexts,
  type LastTick,
  listQueues,
  type PayloadCipher,
  type RedisClock,
  type Reign,
} from '@jadwal/queue'
import { type Logger, rateLimitedErrors } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import type { Catalogue } from './catalogue.ts'
import { CHUNK, Chunk, type PlanOne } from './chunk.ts'
import type { FiringQueues } from './firing-queues.ts'
import { moveHome } from './move-home.ts'
import { planTicks, type SchedulePlan } from './plan-ticks.ts'
import type { ScheduleBook } from './schedule-book.ts'
import { NO_QUEUE, type SkippedRow } from './plan-context.ts'
import { ScheduleHomes } from './schedule-homes.ts'
import type { SchedulerMetrics } from './scheduler-metrics.ts'
import { type DecidedTicks, ticksDecided } from './tick-events.ts'

/** Ticks that came this shortly before a take-over are fired first: those of the time without a leader. */
const PUNCTUAL_MS = 30_000
/** Of all the others, so many are looked at in one pass, behind what is due. */
const SLICE = 1_000
/** The sweep: the longest the loop waits, whatever it believes to be due. */
const SWEEP_MS = 1_000
const AGAIN_MS = 10
/** After a queue could not be reached. */
const TROUBLE_MS = 250

export interface FiringDeps {
  book: ScheduleBook
  catalogue: Catalogue
  queues: FiringQueues
  redis: Redis
  redisClock: RedisClock
  clock: Clock
  prefix: string
  metrics: SchedulerMetrics
  log: Logger
  /** Encrypts payloads where jobs ask for it; without it their ticks are owed. */
  cipher?: PayloadCipher | undefined
  /** Whether Redis is so full that ticks had better wait: they are owed, and fire later. */
  redisIsFull: () => boolean
}

/**
 * The firing loop of one reign. `pending` holds the schedules that may owe a tick: those whose cadence
 * is due; and, after take-over and each lost connection, all others, slice by slice. A schedule leaves
 * it only when a chunk that decided what it owed has been committed.
 * What was fired is not known here but in each queue's last-ticks hash (see FiringQueue).
 */
export class Firing {
  readonly #deps: FiringDeps
  readonly #reign: Reign
  readonly #pending = new Set<ScheduleId>()
  readonly #unknownJob: (problem: string) => void
  readonly #full: (error: Error) => void
  readonly #unplanned: (error: Error) => void
  readonly #queueFailed: (error: unknown) => void
  readonly #stop: AbortSignal
  readonly #homes: ScheduleHomes
  /** The schedules that are yet to be looked at since the last take-over. */
  #unseen: Iterator<ScheduleId> | undefined
  /** The rows that the last ticks went into, of schedules whose last ticks were skipped. */
  readonly #rows = new Map<ScheduleId, SkippedRow>()
  #claimed = new Set<string>()
  /** Schedules whose next tick belongs into another queue than the one that keeps their last tick. */
  #moves: { id: ScheduleId; from: string; to: string }[] = []
  /** The count of lost connections that everything known here is younger than. */
  #closes: number | undefined
  /** When something was last committed or found to be in order; the watchdog looks at it. */
  progressedAtMs: number

  /** `stop` ends a pass after the chunk in hand. */
  constructor(deps: FiringDeps, reign: Reign, stop: AbortSignal) {
    this.#deps = deps
    this.#reign = reign
    this.#stop = stop
    this.#homes = new ScheduleHomes(deps)
    this.progressedAtMs = deps.clock.monotonicMs()
    this.#queueFailed = rateLimitedErrors(deps.log, 'queue can not be fired into')
    this.#full = rateLimitedErrors(deps.log, 'ticks wait')
    this.#unplanned = rateLimitedErrors(deps.log, 'schedule can not be planned, its ticks are owed')
    const warn = rateLimitedErrors(deps.log, 'schedule waits for a worker that serves its job')
    this.#unknownJob = (problem) => warn(new Error(problem))
  }

  /** Fires all that is due. Returns how many ms to wait for what comes next. */
  async pass(): Promise<number> {
    const { book, redisClock } = this.#deps
    if (this.#closes !== this.#deps.queues.closes) await this.#catchUp()
    if (this.#deps.redisIsFull()) {
      this.#full(new Error('Redis is nearly full'))
      this.#progress()
      return SWEEP_MS
    }
    for (const id of book.collectDue(redisClock.nowMs())) this.#pending.add(id)
    const unseen = this.#addUnseen()
    const againMs = await this.#fireAll()
    this.#progress()
    if (againMs !== undefined || unseen) return againMs ?? 0
    return Math.max(0, Math.min(book.nextDueMs() - redisClock.nowMs(), SWEEP_MS))
  }

  /** Makes the next slice of the unseen pending. Whether there was any. */
  #addUnseen(): boolean {
    if (!this.#unseen) return false
    for (let count = 0; this.#unseen && count < SLICE; count += 1) {
      const { value, done } = this.#unseen.next()
      if (done) this.#unseen = undefined
      else this.#pending.add(value)
    }
    return true
  }

  /** As at take-over: our term into every queue, then every schedule is to be looked at. */
  async #catchUp(): Promise<void> {
    const { queues, redis, prefix, catalogue, book, redisClock } = this.#deps
    const closes = queues.closes
    this.#claimed = new Set()
    this.#homes.clear()
    const names = new Set([...(await listQueues(redis, prefix)), ...catalogue.queues()])
    queues.warm(names)
    // All have ended before anything else goes over their connections.
    const claims = await Promise.allSettled([...names].map((name) => this.#claim(name)))
    for (const claim of claims) if (claim.status === 'rejected') throw claim.reason
    book.rewind(redisClock.nowMs() - PUNCTUAL_MS)
    this.#unseen = book.ids()
    this.#closes = closes
    this.#progress()
  }

  async #claim(name: string): Promise<FiringQueue> {
    const queue = await this.#deps.queues.ready(name)
    if (!this.#claimed.has(name)) {
      await queue.claim(this.#reign)
      this.#claimed.add(name)
    }
    return queue
  }

  /** Fires queues side by side. Returns in how many ms it is worth another pass, if it is. */
  async #fireAll(): Promise<number | undefined> {
    if (this.#pending.size === 0) return undefined
    const groups = [...(await this.#groupByHome())]
    this.#moves = []
    const results = await Promise.allSettled(
      groups.map(([name, ids]) => this.#fireQueue(name, ids)),
    )
    let againMs: number | undefined
    for (const [at, result] of results.entries()) {
      if (result.status === 'fulfilled') {
        if (result.value) againMs ??= AGAIN_MS
        continue
      }
      if (isLeaseLost(result.reason)) throw result.reason
      // The other queues need not wait for this one. Whatever is wrong, our term is written again first.
      this.#claimed.delete(groups[at]?.[0] ?? '')
      this.#queueFailed(result.reason)
      againMs = TROUBLE_MS
    }
    // A move uses the connections of two queues, and any EXEC ends every WATCH of its connection.
    for (const { id, from, to } of this.#moves) await this.#move(id, from, to)
    return againMs
  }

  /** Pending schedules by the queue that keeps their last tick. */
  async #groupByHome(): Promise<Map<string, ScheduleId[]>> {
    const { groups, gone, waiting } = await this.#homes.group([...this.#pending])
    for (const id of gone) this.#forget(id)
    for (const { id, job } of waiting) this.#waitsFor(id, job)
    return groups
  }

  /** Chunk by chunk; while Redis carries out one the next is prepared. */
  async #fireQueue(name: string, ids: readonly ScheduleId[]): Promise<boolean> {
    const queue = await this.#claim(name)
    let again = false
    let preparing: Promise<Chunk> | undefined
    for (let at = 0; at < ids.length && !this.#stop.aborted; at += CHUNK) {
      const chunk = (await preparing) ?? this.#chunk(name, ids.slice(at, at + CHUNK))
      preparing = undefined
      const scheduleIds = ids.slice(at + CHUNK, at + 2 * CHUNK)
      const meanwhile = (lasts: LastTexts): void => {
        preparing = this.#prepare(queue, this.#chunk(name, scheduleIds), lasts)
        // Whoever waits for it hears of it; nobody does when this chunk fails.
        preparing.catch(() => {})
      }
      const next = scheduleIds.length > 0 ? { next: { scheduleIds, meanwhile } } : {}
      const fired = await queue.fire({ ...chunk.request(this.#reign), ...next })
      if (fired.status === 'fired') again = this.#decided(name, chunk, fired) || again
      else again = true
      this.#progress()
    }
    return again
  }

  #chunk(name: string, ids: readonly ScheduleId[]): Chunk {
    const { clock, redisClock } = this.#deps
    const planOne: PlanOne = (id, last, at) => this.#plan(id, last, { name, ...at })
    return new Chunk(ids, redisClock.nowMs(), { clock, planOne })
  }

  async #prepare(queue: FiringQueue, chunk: Chunk, lasts: LastTexts): Promise<Chunk> {
    // The transaction before is written first.
    await setImmediate()
    chunk.prepared = await queue.prepare(chunk.request(this.#reign), lasts)
    return chunk
  }

  /** Whether there is more to do. */
  #decided(name: string, { ids, plans }: Chunk, fired: DecidedTicks): boolean {
    ticksDecided(this.#deps, fired)
    for (const id of ids) this.#settle(id, { from: name, result: plans.get(id), owed: fired.owed })
    return ids.some((id) => plans.get(id)?.more !== false)
  }

  /** What follows for a schedule from a chunk that was committed. No result: it did not fit in. */
  #settle(
    id: ScheduleId,
    {
      from,
      result,
      owed,
    }: { from: string; result: SchedulePlan | undefined; owed: ReadonlySet<string> },
  ): void {
    if (!result) return
    if (result.row) this.#rows.set(id, result.row)
    else if (result.plan) this.#rows.delete(id)
    // Those with a backlog go to the end, so that they never hold up the punctual ones.
    this.#pending.delete(id)
    const owes = result.more || result.plan?.runs.some((run) => owed.has(run.id))
    if (owes || result.unknownJob !== undefined || result.unplanned) this.#pending.add(id)
    if (result.unknownJob !== undefined) this.#waitsFor(id, result.unknownJob)
    if (result.moveTo !== undefined) this.#moves.push({ id, from, to: result.moveTo })
  }

  #waitsFor(id: ScheduleId, job: string): void {
    this.#unknownJob(`${this.#deps.book.get(id)?.name}: no worker has served the job ${job} yet`)
  }

  #plan(
    id: ScheduleId,
    last: LastTick | undefined,
    { name, ...at }: { name: string } & Parameters<PlanOne>[2],
  ): SchedulePlan {
    const { book, catalogue } = this.#deps
    const schedule = book.get(id)
    if (!schedule) return { more: false }
    // One that can't be planned, for whatever reason, must not keep its queue from firing.
    try {
      return planTicks(schedule, last, {
        ...at,
        term: this.#reign.term,
        pauses: book.pauses,
        row: this.#rows.get(id),
        // Closed by a move that was cut short: nothing fires here, the move is to be finished.
        queue: last?.moved ? NO_QUEUE : name,
        jobOf: (job) => catalogue.job(job),
        cipher: this.#deps.cipher,
      })
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error)
      this.#unplanned(new Error(`${schedule.name}: ${cause}`, { cause: error }))
      return { more: false, unplanned: true }
    }
  }

  async #move(id: ScheduleId, from: string, to: string): Promise<void> {
    const { log, book } = this.#deps
    const queues = { from: await this.#claim(from), to: await this.#claim(to) }
    await moveHome(this.#reign, id, queues)
    await this.#homes.move(id, to)
    log.info({ schedule: book.get(id)?.name, queue: to }, 'schedule moved to another queue')
  }

  #forget(id: ScheduleId): void {
    this.#pending.delete(id)
    this.#homes.forget(id)
    this.#rows.delete(id)
  }

  #progress(): void {
    this.progressedAtMs = this.#deps.clock.monotonicMs()
  }
}

export function isLeaseLost(error: unknown): boolean {
  return error instanceof Error && error.name === 'LeaseLostError'
}
