import type { Clock, ScheduleId } from '@jadwal/domain'
import {
  type FiringQueue,
  type LastTick,
  listQueues,
  readHomes,
  type RedisClock,
  type Reign,
  type TickPlan,
  writeHomes,
} from '@jadwal/queue'
import { type Logger, rateLimitedErrors } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import type { Catalogue } from './catalogue.ts'
import type { FiringQueues } from './firing-queues.ts'
import { moveHome } from './move-home.ts'
import { planTicks, type SchedulePlan } from './plan-ticks.ts'
import type { ScheduleBook } from './schedule-book.ts'
import type { SchedulerMetrics } from './scheduler-metrics.ts'

/** Ticks in one MULTI: more would keep Redis from answering anybody else. */
const CHUNK = 2_000
/** Nor is a MULTI to be larger than about twice this. */
const CHUNK_BYTES = 4 * 1024 * 1024
/** Ticks of one schedule in one MULTI, so that a backlog does not hold up the punctual ones. */
const PER_SCHEDULE = 100
/** The sweep: the longest the loop waits, whatever it believes to be due. */
const SWEEP_MS = 1_000
const AGAIN_MS = 10
/** No queue has this name. */
const NO_QUEUE = ''

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
  /** Whether Redis is so full that ticks had better wait: they are owed, and fire later. */
  redisIsFull: () => boolean
}

/**
 * The firing loop of one reign. `pending` holds the schedules that may owe a tick: all of them at
 * take-over and after each lost connection, afterwards those whose cadence is due. A schedule leaves
 * it only when a chunk that decided what it owed has been committed.
 * What was fired is not known here but in each queue's last-ticks hash (see FiringQueue).
 */
export class Firing {
  readonly #deps: FiringDeps
  readonly #reign: Reign
  readonly #pending = new Set<ScheduleId>()
  readonly #unknownJob: (problem: string) => void
  readonly #full: (error: Error) => void
  #homes = new Map<ScheduleId, string>()
  #claimed = new Set<string>()
  /** The count of lost connections that everything known here is younger than. */
  #closes: number | undefined
  /** When something was last committed or found to be in order; the watchdog looks at it. */
  progressedAtMs: number

  constructor(deps: FiringDeps, reign: Reign) {
    this.#deps = deps
    this.#reign = reign
    this.progressedAtMs = deps.clock.monotonicMs()
    this.#full = rateLimitedErrors(deps.log, 'ticks wait')
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
    const again = this.#pending.size > 0 && (await this.#fireAll())
    this.#progress()
    if (again) return AGAIN_MS
    return Math.max(0, Math.min(book.nextDueMs() - redisClock.nowMs(), SWEEP_MS))
  }

  /** As at take-over: our term into every queue, then look at every schedule. */
  async #catchUp(): Promise<void> {
    const { queues, redis, prefix, catalogue, book, redisClock } = this.#deps
    const closes = queues.closes
    this.#claimed = new Set()
    this.#homes = await readHomes(redis, prefix)
    const names = new Set([
      ...(await listQueues(redis, prefix)),
      ...catalogue.queues(),
      ...this.#homes.values(),
    ])
    queues.warm(names)
    await Promise.all([...names].map((name) => this.#claim(name)))
    book.rewind(redisClock.nowMs())
    for (const id of book.ids()) this.#pending.add(id)
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

  /** Whether it is worth another pass at once. */
  async #fireAll(): Promise<boolean> {
    const groups = await this.#groupByHome()
    const results = await Promise.allSettled(
      [...groups].map(([name, ids]) => this.#fireQueue(name, ids)),
    )
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    return results.some((result) => result.status === 'fulfilled' && result.value)
  }

  /** Pending schedules by the queue that keeps their last tick. Those without a home get one. */
  async #groupByHome(): Promise<Map<string, ScheduleId[]>> {
    const { book, catalogue, redis, prefix } = this.#deps
    const groups = new Map<string, ScheduleId[]>()
    const settled = new Map<ScheduleId, string>()
    for (const id of this.#pending) {
      const first = book.get(id)?.versions[0]
      if (!first) {
        this.#pending.delete(id)
        continue
      }
      const home = this.#homes.get(id) ?? catalogue.queueOf(first.spec.job)
      if (home === undefined) {
        this.#unknownJob(
          `${book.get(id)?.name}: no worker has served the job ${first.spec.job} yet`,
        )
        continue
      }
      if (!this.#homes.has(id)) settled.set(id, home)
      const group = groups.get(home)
      if (group) group.push(id)
      else groups.set(home, [id])
    }
    await writeHomes(redis, prefix, settled)
    for (const [id, home] of settled) this.#homes.set(id, home)
    return groups
  }

  async #fireQueue(name: string, ids: readonly ScheduleId[]): Promise<boolean> {
    const queue = await this.#claim(name)
    let again = false
    for (let at = 0; at < ids.length; at += CHUNK) {
      again = (await this.#fireChunk(queue, name, ids.slice(at, at + CHUNK))) || again
      this.#progress()
    }
    return again
  }

  async #fireChunk(queue: FiringQueue, name: string, ids: readonly ScheduleId[]): Promise<boolean> {
    const { redisClock } = this.#deps
    const nowMs = redisClock.nowMs()
    const nowIso = new Date(nowMs).toISOString()
    const plans = new Map<ScheduleId, SchedulePlan>()
    let room = CHUNK
    let bytes = 0
    const plan = (id: ScheduleId, last: LastTick | undefined): TickPlan | undefined => {
      const result: SchedulePlan =
        room > 0 && bytes < CHUNK_BYTES
          ? this.#plan(id, last, { name, nowMs, nowIso, room })
          : { more: true }
      room -= result.plan?.runs.length ?? 0
      for (const run of result.plan?.runs ?? []) bytes += run.fact.length
      plans.set(id, result)
      return result.plan
    }
    const fired = await queue.fire({ reign: this.#reign, nowIso, scheduleIds: ids, plan })
    if (fired.status === 'aborted') return true
    this.#count(fired)
    for (const id of ids) {
      const result = plans.get(id)
      const owes = result?.more || result?.plan?.runs.some((run) => fired.owed.has(run.id))
      if (!owes && result?.unknownJob === undefined) this.#pending.delete(id)
      if (result?.unknownJob !== undefined) {
        this.#unknownJob(
          `${this.#deps.book.get(id)?.name}: no worker has served the job ${result.unknownJob} yet`,
        )
      }
      if (result?.moveTo !== undefined) await this.#move(id, { from: queue, to: result.moveTo })
    }
    return ids.some((id) => plans.get(id)?.more)
  }

  #plan(
    id: ScheduleId,
    last: LastTick | undefined,
    at: { name: string; nowMs: number; nowIso: string; room: number },
  ): SchedulePlan {
    const { book, catalogue } = this.#deps
    const schedule = book.get(id)
    if (!schedule) return { more: false }
    return planTicks(schedule, last, {
      nowMs: at.nowMs,
      nowIso: at.nowIso,
      term: this.#reign.term,
      // Closed by a move that was cut short: nothing fires here, the move is to be finished.
      queue: last?.moved ? NO_QUEUE : at.name,
      queueOf: (job) => catalogue.queueOf(job),
      maxRuns: Math.min(at.room, PER_SCHEDULE),
    })
  }

  async #move(id: ScheduleId, move: { from: FiringQueue; to: string }): Promise<void> {
    const { redis, prefix, log, book } = this.#deps
    const to = await this.#claim(move.to)
    await moveHome(this.#reign, id, { from: move.from, to })
    await writeHomes(redis, prefix, new Map([[id, move.to]]))
    this.#homes.set(id, move.to)
    log.info({ schedule: book.get(id)?.name, queue: move.to }, 'schedule moved to another queue')
  }

  #progress(): void {
    this.progressedAtMs = this.#deps.clock.monotonicMs()
  }

  #count(fired: {
    plans: TickPlan[]
    swallowed: ReadonlySet<string>
    owed: ReadonlySet<string>
  }): void {
    const { metrics, redisClock, log } = this.#deps
    const nowMs = redisClock.nowMs()
    for (const run of fired.plans.flatMap((plan) => plan.runs)) {
      if (fired.owed.has(run.id)) continue
      if (fired.swallowed.has(run.id)) {
        metrics.ticks.inc({ verdict: 'overlap' })
        continue
      }
      metrics.ticks.inc({ verdict: 'fired' })
      metrics.lateness.observe(Math.max(0, nowMs - run.tickAtMs) / 1_000)
    }
    for (const plan of fired.plans) {
      for (const [verdict, count] of Object.entries(plan.skipped))
        metrics.ticks.inc({ verdict }, count)
    }
    if (fired.owed.size > 0)
      log.error({ ticks: fired.owed.size }, 'ticks were not added, firing them again')
  }
}
