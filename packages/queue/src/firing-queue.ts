import type { OverlapPolicy, RunId, RunMessage, ScheduleId } from '@jadwal/domain'
import type { JobsOptions } from 'bullmq'
import type { ChainableCommander } from 'ioredis'
import { LeaseLostError } from './errors.ts'
import { FiringConnection } from './firing-connection.ts'
import { lastTicksKey } from './keys.ts'
import { formatLastTick, type LastTick, parseLastTick, TERM_FIELD } from './last-tick.ts'
import type { Reign } from './lease.ts'
import { addVerdicts } from './verdict-script.ts'

/** A tick that is to have a run. */
export interface PlannedRun {
  id: RunId
  job: string
  tickAtMs: number
  /** When it is to start: the tick and its jitter. */
  dueAtMs: number
  /** What becomes of it while an earlier run of the schedule is unfinished. */
  overlap: OverlapPolicy
  message: RunMessage
  options: JobsOptions
  /** The run's fact as JSON, from after its state on (`"id":…}`). */
  fact: string
}

/** What is owed of one schedule. */
export interface TickPlan {
  scheduleId: ScheduleId
  /** The last tick that this plan decides. */
  lastMs: number
  runs: PlannedRun[]
  /** Facts of ticks that get no run, as JSON. */
  skips: string[]
  /** How many ticks get no run, by reason. */
  skipped: Record<string, number>
}

export interface FireRequest {
  reign: Reign
  nowIso: string
  scheduleIds: readonly ScheduleId[]
  /** Decides what a schedule owes after its last tick; undefined when it owes nothing. */
  plan: (scheduleId: ScheduleId, last: LastTick | undefined) => TickPlan | undefined
  /** What `prepare` made of this request. */
  prepared?: PreparedFiring | undefined
  /** The schedules of the next request; `meanwhile` hears of their last ticks while Redis is busy with this one. */
  next?: { scheduleIds: readonly ScheduleId[]; meanwhile: (lasts: LastTexts) => void }
}

/** Last ticks as they are stored. */
export type LastTexts = readonly (string | null)[]

/** A transaction that is right as long as the last ticks are those that it was made for. */
export interface PreparedFiring {
  lasts: LastTexts
  plans: TickPlan[]
  tx: ChainableCommander | undefined
}

export type FireResult =
  /**
   * Everything that was planned stands. Run ids: `overlapped` got no run since an earlier one is
   * unfinished, `owed` could not be added.
   */
  | { status: 'fired'; plans: TickPlan[]; overlapped: Set<RunId>; owed: Set<RunId> }
  /** Somebody else wrote in between: read again. */
  | { status: 'aborted' }

/**
 * Fires ticks into one queue. The queue's last-ticks hash is authoritative: a tick is decided when
 * its hash says so. It is watched, read, and written in the same MULTI as the runs, so of any number
 * of schedulers that try, one gets through.
 * Crash before EXEC: nothing happened. Crash after EXEC: run, last tick and fact are all there.
 */
export class FiringQueue {
  readonly #connection: FiringConnection
  readonly #prefix: string
  readonly #name: string

  constructor(options: ConstructorParameters<typeof FiringConnection>[0]) {
    this.#connection = new FiringConnection(options)
    this.#prefix = options.prefix
    this.#name = options.queue
  }

  /** How often the connection was lost so far. */
  get closes(): number {
    return this.#connection.closes
  }

  get redis(): FiringConnection['redis'] {
    return this.#connection.redis
  }

  /**
   * Writes the term into the queue, so that an older leader's EXEC fails and its next read tells it
   * to stop. Throws `LeaseLostError` when a newer term is there.
   */
  async claim(reign: Reign): Promise<void> {
    for (;;) {
      const [[last]] = await this.#read([], reign)
      if (last === String(reign.term)) return await this.#unwatch()
      if (!reign.trusted()) throw new LeaseLostError('the lease ran out before EXEC')
      const tx = this.redis.multi().hset(this.#lastTicks, TERM_FIELD, reign.term)
      if ((await tx.exec()) !== null) return
    }
  }

  /** Fires what the schedules owe. Throws `LeaseLostError`, or an error of the connection: then read again. */
  async fire(request: FireRequest): Promise<FireResult> {
    const { reign, scheduleIds } = request
    const closes = this.closes
    const [[[term], lasts], ahead] = await Promise.all([
      this.#read(scheduleIds, reign),
      this.#readAhead(request),
    ])
    if (term !== String(reign.term))
      throw new Error(`the term ${reign.term} is gone from queue ${this.#name}`)
    const { prepared = await this.prepare(request, lasts) } = request
    if (prepared.lasts.some((last, at) => last !== lasts[at])) {
      await this.#unwatch()
      return { status: 'aborted' }
    }
    const { plans, tx } = prepared
    if (!tx) {
      await this.#unwatch()
      return { status: 'fired', plans, overlapped: new Set(), owed: new Set() }
    }
    if (!reign.trusted()) throw new LeaseLostError('the lease ran out before EXEC')
    if (closes !== this.closes) throw new Error('the connection was lost between WATCH and EXEC')
    const exec = tx.exec()
    request.next?.meanwhile(ahead)
    const replies = await exec
    return replies === null ? { status: 'aborted' } : this.#outcome(plans, replies)
  }

  /** Plans a request and builds its transaction, for last ticks that `fire` will compare with what it finds. */
  async prepare(request: FireRequest, lasts: LastTexts): Promise<PreparedFiring> {
    const plans = request.scheduleIds.flatMap(
      (id, at) => request.plan(id, parseLastTick(lasts[at])) ?? [],
    )
    const tx = plans.length > 0 ? await this.#transaction(plans, request.nowIso) : undefined
    return { lasts, plans, tx }
  }

  /** Changes one schedule's last tick by compare-and-set. For a schedule that moves to another queue. */
  async changeLastTick(
    reign: Reign,
    scheduleId: ScheduleId,
    change: (last: LastTick | undefined) => LastTick,
  ): Promise<LastTick> {
    for (;;) {
      const closes = this.closes
      const [, [text]] = await this.#read([scheduleId], reign)
      const last = parseLastTick(text)
      const next = change(last)
      if (last && formatLastTick(next) === formatLastTick(last)) {
        await this.#unwatch()
        return last
      }
      if (!reign.trusted()) throw new LeaseLostError('the lease ran out before EXEC')
      if (closes !== this.closes) throw new Error('the connection was lost between WATCH and EXEC')
      const tx = this.redis.multi().hset(this.#lastTicks, scheduleId, formatLastTick(next))
      if ((await tx.exec()) !== null) return next
    }
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  get #lastTicks(): string {
    return lastTicksKey(this.#prefix, this.#name)
  }

  async #read(
    scheduleIds: readonly ScheduleId[],
    reign: Reign,
  ): Promise<[[string | null], (string | null)[]]> {
    const [, values] = await Promise.all([
      this.redis.watch(this.#lastTicks),
      this.redis.hmget(this.#lastTicks, TERM_FIELD, ...scheduleIds),
    ])
    const [term = null, ...lasts] = values
    if (Number(term ?? 0) > reign.term) {
      await this.#unwatch()
      throw new LeaseLostError(`term ${term} fires into queue ${this.#name}; ours is ${reign.term}`)
    }
    return [[term], lasts]
  }

  async #readAhead({ next }: FireRequest): Promise<LastTexts> {
    return next ? await this.redis.hmget(this.#lastTicks, ...next.scheduleIds) : []
  }

  async #unwatch(): Promise<void> {
    await this.redis.unwatch()
  }

  async #transaction(plans: readonly TickPlan[], nowIso: string) {
    const runs = plans.flatMap((plan) => plan.runs)
    const tx = await this.#connection.multi(
      runs.map(({ id, job, message, options }) => ({ id, name: job, data: message, options })),
    )
    // @NOTE not tx.hset: BullMQ's MULTI has one of its own, which takes an object and nothing else.
    const lasts = plans.flatMap(({ scheduleId, lastMs }) => [
      scheduleId,
      formatLastTick({ ms: lastMs, moved: false }),
    ])
    tx.call('HSET', this.#lastTicks, ...lasts)
    const at = { prefix: this.#prefix, queue: this.#name, nowIso }
    addVerdicts(tx, at, {
      facts: plans.flatMap((plan) => plan.skips),
      runs: plans.flatMap(({ scheduleId, runs: some }) =>
        some.map((run) => ({ ...run, owner: scheduleId, field: scheduleId })),
      ),
    })
    return tx
  }

  #outcome(plans: TickPlan[], replies: [Error | null, unknown][]): FireResult {
    const failed = replies.find(([error]) => error !== null)?.[0]
    const verdicts = replies.at(-1)?.[1]
    if (!Array.isArray(verdicts)) {
      throw new Error(
        `ticks were fired into queue ${this.#name}, but their facts were not written`,
        { cause: failed },
      )
    }
    const runs = plans.flatMap((plan) => plan.runs)
    const withVerdict = (verdict: number): Set<RunId> =>
      new Set(runs.filter((_, at) => verdicts[at] === verdict).map((run) => run.id))
    return { status: 'fired', plans, overlapped: withVerdict(2), owed: withVerdict(0) }
  }
}
