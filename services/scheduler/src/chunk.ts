import type { Clock, ScheduleId } from '@jadwal/domain'
import type { FireRequest, LastTick, PreparedFiring, Reign, TickPlan } from '@jadwal/queue'
import type { SchedulePlan } from './plan-ticks.ts'

/** Ticks in one MULTI: more would keep Redis from answering anybody else. */
export const CHUNK = 2_000
/** Nor is a MULTI to be larger than about twice this. */
const CHUNK_BYTES = 4 * 1024 * 1024
/** Ticks of one schedule in one MULTI, so that a backlog does not hold up the punctual ones. */
const PER_SCHEDULE = 100
/** How long a chunk is planned at most; the rest of it comes the next time. */
const PLAN_MS = 200

/** Plans what one schedule owes at an instant; `maxRuns` at most. */
export type PlanOne = (
  id: ScheduleId,
  last: LastTick | undefined,
  at: { nowMs: number; nowIso: string; maxRuns: number },
) => SchedulePlan

/** What is decided in one transaction: the plans of some schedules, as far as they fit. */
export class Chunk {
  readonly ids: readonly ScheduleId[]
  readonly nowMs: number
  readonly plans = new Map<ScheduleId, SchedulePlan>()
  /** Made while Redis carried out the chunk before. */
  prepared: PreparedFiring | undefined
  readonly #clock: Clock
  readonly #planOne: PlanOne
  readonly #nowIso: string
  #untilMs: number | undefined
  #room = CHUNK
  #bytes = 0

  constructor(ids: readonly ScheduleId[], nowMs: number, by: { clock: Clock; planOne: PlanOne }) {
    this.ids = ids
    this.nowMs = nowMs
    this.#nowIso = new Date(nowMs).toISOString()
    this.#clock = by.clock
    this.#planOne = by.planOne
  }

  request(reign: Reign): FireRequest {
    const { ids, prepared } = this
    const plan: FireRequest['plan'] = (id, last) => this.#plan(id, last)
    return { reign, nowIso: this.#nowIso, scheduleIds: ids, plan, prepared }
  }

  #plan(id: ScheduleId, last: LastTick | undefined): TickPlan | undefined {
    const timeMs = this.#clock.monotonicMs()
    this.#untilMs ??= timeMs + PLAN_MS
    const fits = this.#room > 0 && this.#bytes < CHUNK_BYTES && timeMs < this.#untilMs
    if (!fits && this.plans.size > 0) return undefined
    const maxRuns = Math.min(this.#room, PER_SCHEDULE)
    const result = this.#planOne(id, last, { nowMs: this.nowMs, nowIso: this.#nowIso, maxRuns })
    const runs = result.plan?.runs ?? []
    this.#room -= runs.length
    for (const run of runs) this.#bytes += run.fact.length
    for (const skip of result.plan?.skips ?? []) this.#bytes += skip.length
    this.plans.set(id, result)
    return result.plan
  }
}
